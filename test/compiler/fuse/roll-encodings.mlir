// RUN: %mille-opt %s --roll --split-input-file | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: %mille-opt %s --roll=by-encoding --split-input-file | FileCheck %s --check-prefixes=CHECK,TWO

// Layers that are stored in other blocks are equal, unless kernels are to read the blocks
// as they are.
// CHECK-LABEL: transformer.model @stored
// ONE: bodies [0, 0, 0]
// TWO: bodies [0, 1, 0]
// TWO-SAME: differences = ["reads other values, or its parameters are of other sizes or blocks, or shared otherwise, than in body 0"]
transformer.model @stored {
  transformer.parameter @layers.0.w : tensor<32x32xf32> = #transformer.stored<"f", "0", tensor<32x32xf32>, q4_0>
  transformer.parameter @layers.1.w : tensor<32x32xf32> = #transformer.slice<#transformer.stored<"f", "1", tensor<64x32xf32>, q8_0>, axis = 0, offset = 0, size = 32, stride = 1>
  transformer.parameter @layers.2.w : tensor<32x32xf32> = #transformer.stored<"f", "2", tensor<32x32xf32>, q4_0>
  func.func @forward(%0: tensor<?x?x32xf32> {transformer.name = "x"}) -> (tensor<?x?x32xf32> {transformer.name = "y"}) {
    %1 = transformer.residual %0 layer 0 {
    ^bb0(%u: tensor<?x?x32xf32>):
      %a = transformer.linear %u weight @layers.0.w : tensor<?x?x32xf32> -> tensor<?x?x32xf32>
      transformer.yield %a : tensor<?x?x32xf32>
    } : tensor<?x?x32xf32>
    %2 = transformer.residual %1 layer 1 {
    ^bb0(%u: tensor<?x?x32xf32>):
      %a = transformer.linear %u weight @layers.1.w : tensor<?x?x32xf32> -> tensor<?x?x32xf32>
      transformer.yield %a : tensor<?x?x32xf32>
    } : tensor<?x?x32xf32>
    %3 = transformer.residual %2 layer 2 {
    ^bb0(%u: tensor<?x?x32xf32>):
      %a = transformer.linear %u weight @layers.2.w : tensor<?x?x32xf32> -> tensor<?x?x32xf32>
      transformer.yield %a : tensor<?x?x32xf32>
    } : tensor<?x?x32xf32>
    return %3 : tensor<?x?x32xf32>
  }
}

// -----

// Layers whose weights are asked for in other types are not equal either; a weight that is
// to stay as it is stored is told apart by its blocks.
// CHECK-LABEL: transformer.model @asked
// CHECK: bodies [0, 1, 0, 2]
transformer.model @asked {
  transformer.parameter @layers.0.w : tensor<32x32xf32> = #transformer.stored<"f", "0", tensor<32x32xf32>, q4_0> dtype "q8_0"
  transformer.parameter @layers.1.w : tensor<32x32xf32> = #transformer.stored<"f", "1", tensor<32x32xf32>, q4_0> dtype "stored"
  transformer.parameter @layers.2.w : tensor<32x32xf32> = #transformer.stored<"f", "2", tensor<32x32xf32>, q5_0> dtype "q8_0"
  transformer.parameter @layers.3.w : tensor<32x32xf32> = #transformer.stored<"f", "3", tensor<32x32xf32>, q5_0> dtype "stored"
  func.func @forward(%0: tensor<?x?x32xf32> {transformer.name = "x"}) -> (tensor<?x?x32xf32> {transformer.name = "y"}) {
    %1 = transformer.residual %0 layer 0 {
    ^bb0(%u: tensor<?x?x32xf32>):
      %a = transformer.linear %u weight @layers.0.w : tensor<?x?x32xf32> -> tensor<?x?x32xf32>
      transformer.yield %a : tensor<?x?x32xf32>
    } : tensor<?x?x32xf32>
    %2 = transformer.residual %1 layer 1 {
    ^bb0(%u: tensor<?x?x32xf32>):
      %a = transformer.linear %u weight @layers.1.w : tensor<?x?x32xf32> -> tensor<?x?x32xf32>
      transformer.yield %a : tensor<?x?x32xf32>
    } : tensor<?x?x32xf32>
    %3 = transformer.residual %2 layer 2 {
    ^bb0(%u: tensor<?x?x32xf32>):
      %a = transformer.linear %u weight @layers.2.w : tensor<?x?x32xf32> -> tensor<?x?x32xf32>
      transformer.yield %a : tensor<?x?x32xf32>
    } : tensor<?x?x32xf32>
    %4 = transformer.residual %3 layer 3 {
    ^bb0(%u: tensor<?x?x32xf32>):
      %a = transformer.linear %u weight @layers.3.w : tensor<?x?x32xf32> -> tensor<?x?x32xf32>
      transformer.yield %a : tensor<?x?x32xf32>
    } : tensor<?x?x32xf32>
    return %4 : tensor<?x?x32xf32>
  }
}
