// RUN: %mille-opt %s --narrow-types=dtype=int8 | FileCheck %s --check-prefixes=CHECK,NARROW
// RUN: %mille-opt %s --narrow-types=dtype=q8_0 | FileCheck %s --check-prefixes=CHECK,NARROW
// RUN: %mille-opt %s --narrow-types=dtype=f32 | FileCheck %s --check-prefixes=CHECK,WIDE

// A table of rows that a file holds in bf16 stays so where the package has narrow types:
// each number is the same. One in f32, or computed, is f32.
transformer.model @tables {
  transformer.parameter @half : tensor<8x32xf32> = #transformer.stored<"f", "a", tensor<8x32xbf16>>
  transformer.parameter @full : tensor<8x32xf32> = #transformer.stored<"f", "b", tensor<8x32xf32>>
  transformer.parameter @twice : tensor<8x32xf32> = #transformer.times<#transformer.stored<"f", "a", tensor<8x32xbf16>>, 2.0>
  // CHECK-LABEL: func.func @forward
  func.func @forward(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %ids: tensor<?xi32> {transformer.name = "input_ids"}) -> (tensor<?x32xf32> {transformer.name = "y"}) {
    %rows = arith.muli %b, %t : index
    // NARROW-DAG: %[[HALF:.*]] = kernel.weight @half -> tensor<8x32xbf16>
    // WIDE-DAG: %[[HALF:.*]] = kernel.weight @half -> tensor<8x32xf32>
    // CHECK-DAG: %[[FULL:.*]] = kernel.weight @full -> tensor<8x32xf32>
    // CHECK-DAG: %[[TWICE:.*]] = kernel.weight @twice -> tensor<8x32xf32>
    // CHECK: kernel.rows ins(%[[HALF]], %[[FULL]], %[[TWICE]] :
    %half = kernel.weight @half -> tensor<8x32xf32>
    %full = kernel.weight @full -> tensor<8x32xf32>
    %twice = kernel.weight @twice -> tensor<8x32xf32>
    %o = tensor.empty(%rows) : tensor<?x32xf32>
    %y = kernel.rows ins(%half, %full, %twice : tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>) indices(%ids : tensor<?xi32>) outs(%o : tensor<?x32xf32>) gather [0, 0, 0] {
    ^bb0(%a: f32, %c: f32, %d: f32):
      %s = arith.addf %a, %c : f32
      %r = arith.addf %s, %d : f32
      kernel.yield %r : f32
    } -> tensor<?x32xf32>
    return %y : tensor<?x32xf32>
  }
}
