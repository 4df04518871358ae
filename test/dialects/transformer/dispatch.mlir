// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @dispatch
// CHECK: transformer.dispatch %{{.*}} to %{{.*}} : tensor<?x?x8xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x8xf32>
// CHECK: transformer.dispatch %{{.*}} to %{{.*}} times %{{.*}} : tensor<?x?x2xf32> : tensor<?x?x8xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x8xf32>
func.func @dispatch(%x: tensor<?x?x8xf32>, %e: tensor<?x?x2xi32>, %w: tensor<?x?x2xf32>) {
  %y = transformer.dispatch %x to %e : tensor<?x?x8xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x8xf32>
  %z = transformer.dispatch %x to %e times %w : tensor<?x?x2xf32> : tensor<?x?x8xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x8xf32>
  return
}
