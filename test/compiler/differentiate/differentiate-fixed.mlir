// What follows from a model's description has no gradient: all rows of a parameter, or
// some of them. In a body it is the first layer's.
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate{of=out loss=given}))' | FileCheck %s

// CHECK: transformer.layers %{{.*}} reverse
// CHECK-NOT: weight_gradient
// CHECK: transformer.weight_gradient %{{.*}}, %{{.*}} weight @"l.*.k" fixed_rows [4, 3, 1] :
// CHECK-NOT: weight_gradient
// CHECK: transformer.embed_gradient %{{.*}} to(%{{.*}}) tables [@word] offsets [1] :
transformer.model @rows {
  transformer.parameter @table : tensor<9x8xf32> = #transformer.sinusoid<divisor = 4.0, zero = -1, tensor<9x8xf32>> fixed_rows [1, 0, 1]
  transformer.parameter @word : tensor<11x8xf32> = #transformer.stored<"f", "word", tensor<11x8xf32>>
  transformer.parameter @spread : tensor<8x8xf32> = #transformer.stored<"f", "spread", tensor<8x8xf32>> fixed_rows [1, 0, 1]
  transformer.parameter @l.0.k : tensor<8x8xf32> = #transformer.stored<"f", "k0", tensor<8x8xf32>> fixed_rows [4, 3, 1]
  transformer.parameter @l.1.k : tensor<8x8xf32> = #transformer.stored<"f", "k1", tensor<8x8xf32>> fixed_rows [4, 3, 1]
  func.func @forward(%ids: tensor<?x?xi32> {transformer.name = "input_ids"}) -> (tensor<?x?x8xf32> {transformer.name = "out"}) {
    %x = transformer.embed(%ids, %ids) tables [@table, @word] offsets [0, 1] scale 2.0 : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
    %y = transformer.layers %x slots [["l.*.k"]] bodies [0, 0] table [[@l.0.k], [@l.1.k]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %u = transformer.residual %s {
      ^bb0(%a: tensor<?x?x8xf32>):
        %k = transformer.linear %a weight @"l.*.k" : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
        %t = transformer.linear %k weight @spread : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
        transformer.yield %t : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}
