// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @key_head_bias
// CHECK: transformer.key_head_bias %{{.*}} : tensor<?x?x2xf32> -> tensor<?x2x?x?xf32>
// CHECK: transformer.key_head_bias %{{.*}} : tensor<?x?x2xf32> -> tensor<?x6x?x?xf32>
// CHECK: transformer.key_head_gradient %{{.*}} : tensor<?x6x?x?xf32> -> tensor<?x?x2xf32>
func.func @key_head_bias(%x: tensor<?x?x2xf32>) {
  %b = transformer.key_head_bias %x : tensor<?x?x2xf32> -> tensor<?x2x?x?xf32>
  %c = transformer.key_head_bias %x : tensor<?x?x2xf32> -> tensor<?x6x?x?xf32>
  %g = transformer.key_head_gradient %c : tensor<?x6x?x?xf32> -> tensor<?x?x2xf32>
  return
}
