// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: transformer.model @weights
// CHECK: kernel.weight #transformer.concat<@q.weight, @k.weight> -> tensor<16x8xf32>
// CHECK: kernel.weight @"layers.*.skip" -> tensor<1xf32>
transformer.model @weights {
  transformer.parameter @q.weight : tensor<8x8xf32> = #transformer.stored<"f", "q", tensor<8x8xf32>>
  transformer.parameter @k.weight : tensor<8x8xf32> = #transformer.stored<"f", "k", tensor<8x8xf32>>
  func.func @forward(%x: tensor<?x8xf32> {transformer.name = "x"}) {
    %w = kernel.weight #transformer.concat<@q.weight, @k.weight> -> tensor<16x8xf32>
    %y = kernel.layers %x slots [["layers.*.skip"]] bodies [0] table [[1.5]] {
    ^bb0(%s: tensor<?x8xf32>):
      %a = kernel.weight @"layers.*.skip" -> tensor<1xf32>
      kernel.yield %s : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    return
  }
}
