// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @combine
// CHECK: transformer.combine %{{.*}} times %{{.*}} : tensor<?x?x2xf32> : tensor<?x?x2x8xf32> -> tensor<?x?x8xf32>
// CHECK: transformer.combine %{{.*}} : tensor<?x?x2x8xf32> -> tensor<?x?x8xf32>
func.func @combine(%x: tensor<?x?x2x8xf32>, %w: tensor<?x?x2xf32>) {
  %y = transformer.combine %x times %w : tensor<?x?x2xf32> : tensor<?x?x2x8xf32> -> tensor<?x?x8xf32>
  %z = transformer.combine %x : tensor<?x?x2x8xf32> -> tensor<?x?x8xf32>
  return
}
