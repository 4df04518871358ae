// RUN: %mille-opt %s --narrow-types=dtype=stored --remarks-filter=plan --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

// Each weight gets the smallest blocks that hold what it is stored in: of rows put
// together, and of all layers that read it. What is computed becomes q8_0 and says so; what is stored in no blocks stays f32.
transformer.model @stored {
  transformer.parameter @four : tensor<32x32xf32> = #transformer.stored<"f", "a", tensor<32x32xf32>, q4_0>
  transformer.parameter @five : tensor<32x32xf32> = #transformer.stored<"f", "b", tensor<32x32xf32>, q5_0>
  transformer.parameter @uneven : tensor<32x32xf32> = #transformer.stored<"f", "c", tensor<32x32xf32>, iq4_nl>
  transformer.parameter @powers : tensor<32x32xf32> = #transformer.stored<"f", "d", tensor<32x32xf32>, mxfp4>
  transformer.parameter @above : tensor<32x32xf32> = #transformer.stored<"f", "g", tensor<32x32xf32>, q4_1>
  transformer.parameter @plain : tensor<32x32xf32> = #transformer.stored<"f", "e", tensor<32x32xf32>>
  func.func @forward(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %x: tensor<?x32xf32> {transformer.name = "x"}) -> (tensor<?x32xf32> {transformer.name = "y"}) {
    %rows = arith.muli %b, %t : index
    // CHECK: kernel.layers
    // CHECK: kernel.weight #transformer.in_blocks<@"layers.*.w", q5_0>
    // CHECK: accumulators 1 blocks q5_0
    %0 = kernel.layers %x slots [["layers.*.w"]] bodies [0, 0] table [[@four], [@five]] {
    ^bb0(%s: tensor<?x32xf32>):
      %w = kernel.weight @"layers.*.w" -> tensor<32x32xf32>
      %d = tensor.empty(%rows) : tensor<?x32xf32>
      %h = kernel.matmul %s, %w outs(%d : tensor<?x32xf32>) accumulators 1 {
      ^bb0(%acc: f32):
        kernel.yield %acc : f32
      } : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
      kernel.yield %h : tensor<?x32xf32>
    } : tensor<?x32xf32> -> tensor<?x32xf32>
    // CHECK: accumulators 2 blocks q4_0 {
    %w1 = kernel.weight #transformer.concat<@four, @four> -> tensor<64x32xf32>
    %d1 = tensor.empty(%rows) : tensor<?x32xf32>
    %1 = kernel.matmul %0, %w1 outs(%d1 : tensor<?x32xf32>) accumulators 2 {
    ^bb0(%acc: f32, %other: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<64x32xf32> -> tensor<?x32xf32>
    // CHECK: accumulators 2 blocks q8_0 {
    %w2 = kernel.weight #transformer.concat<@four, @uneven> -> tensor<64x32xf32>
    %d2 = tensor.empty(%rows) : tensor<?x32xf32>
    %2 = kernel.matmul %1, %w2 outs(%d2 : tensor<?x32xf32>) accumulators 2 {
    ^bb0(%acc: f32, %other: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<64x32xf32> -> tensor<?x32xf32>
    // CHECK: accumulators 1 blocks mxfp4 {
    %w3 = kernel.weight @powers -> tensor<32x32xf32>
    %d3 = tensor.empty(%rows) : tensor<?x32xf32>
    %3 = kernel.matmul %2, %w3 outs(%d3 : tensor<?x32xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
    // CHECK: accumulators 1 blocks q8_0 {
    // REMARK: a weight becomes blocks of q8_0: it is computed of what is stored
    %w4 = kernel.weight #transformer.times<@five, 0.5> -> tensor<32x32xf32>
    %d4 = tensor.empty(%rows) : tensor<?x32xf32>
    %4 = kernel.matmul %3, %w4 outs(%d4 : tensor<?x32xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
    // CHECK: accumulators 1 {
    // REMARK: a matmul stays f32: its weight is stored in no blocks
    %w5 = kernel.weight @plain -> tensor<32x32xf32>
    %d5 = tensor.empty(%rows) : tensor<?x32xf32>
    %5 = kernel.matmul %4, %w5 outs(%d5 : tensor<?x32xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
    // CHECK: accumulators 1 blocks q4_1 {
    %w6 = kernel.weight @above -> tensor<32x32xf32>
    %d6 = tensor.empty(%rows) : tensor<?x32xf32>
    %6 = kernel.matmul %5, %w6 outs(%d6 : tensor<?x32xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
    // CHECK: accumulators 2 blocks q8_0 {
    // REMARK: a weight becomes blocks of q8_0: it is stored in blocks of q4_0 and q4_1
    %w7 = kernel.weight #transformer.concat<@four, @above> -> tensor<64x32xf32>
    %d7 = tensor.empty(%rows) : tensor<?x32xf32>
    %7 = kernel.matmul %6, %w7 outs(%d7 : tensor<?x32xf32>) accumulators 2 {
    ^bb0(%acc: f32, %other: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<64x32xf32> -> tensor<?x32xf32>
    return %7 : tensor<?x32xf32>
  }
}
