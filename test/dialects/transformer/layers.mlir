// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @layers
// CHECK: transformer.layers %{{.*}} slots {{\[\[}}"layers.*.skip"]] bodies [0, 0] table {{\[\[}}1.000000e+00], [1.400000e+00]] {
// CHECK: ^bb0
func.func @layers(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.layers %x slots [["layers.*.skip"]] bodies [0, 0]
      table [[1.0], [1.4]] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// Two bodies; a column that is a number is read as a constant scale.
// CHECK-LABEL: transformer.model @bodies
// CHECK: bodies [0, 1, 0]
// CHECK: }, {
transformer.model @bodies {
  transformer.parameter @layers.0.w : tensor<8x8xf32> = #transformer.stored<"f", "0", tensor<8x8xf32>>
  transformer.parameter @layers.2.w : tensor<8x8xf32> = #transformer.stored<"f", "2", tensor<8x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %y = transformer.layers %x slots [["layers.*.w", "layers.*.skip"], []] bodies [0, 1, 0]
        table [[@layers.0.w, 1.0], [], [@layers.2.w, 1.4]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %0 = transformer.residual %s skip_scale <constant @"layers.*.skip"> {
      ^bb0(%u: tensor<?x?x8xf32>):
        %1 = transformer.linear %u weight @"layers.*.w" : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
        transformer.yield %1 : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      transformer.yield %0 : tensor<?x?x8xf32>
    }, {
    ^bb0(%s: tensor<?x?x8xf32>):
      transformer.yield %s : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}
