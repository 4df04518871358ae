// RUN: %mille-opt %s --narrow-types=dtype=q4_0 --remarks-filter=plan --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

// A weight has the type that its parameters name, or else the pass's. One input is then
// rounded once for each kind of type that reads it; rows put together have the most exact
// type among them.
// REMARK: a weight becomes blocks of q8_0: parts of it are to be q8_0 and q4_0
transformer.model @types {
  transformer.parameter @plain : tensor<32x32xf32> = #transformer.stored<"f", "a", tensor<32x32xf32>>
  transformer.parameter @eight : tensor<32x32xf32> = #transformer.stored<"f", "b", tensor<32x32xf32>> dtype "q8_0"
  transformer.parameter @bytes : tensor<32x32xf32> = #transformer.stored<"f", "c", tensor<32x32xf32>> dtype "int8"
  transformer.parameter @half : tensor<32x32xf32> = #transformer.stored<"f", "d", tensor<32x32xf32>> dtype "bf16"
  transformer.parameter @wide : tensor<32x32xf32> = #transformer.stored<"f", "e", tensor<32x32xf32>> dtype "f32"
  func.func @forward(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %x: tensor<?x32xf32> {transformer.name = "x"}) -> (tensor<?x32xf32> {transformer.name = "y"}) {
    %rows = arith.muli %b, %t : index
    // CHECK: kernel.quantize %{{.*}} -> tensor<?x32xi8>, tensor<?x3xf32>
    // CHECK: accumulators 1 blocks q4_0
    %w0 = kernel.weight @plain -> tensor<32x32xf32>
    %d0 = tensor.empty(%rows) : tensor<?x32xf32>
    %0 = kernel.matmul %x, %w0 outs(%d0 : tensor<?x32xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
    // CHECK: accumulators 1 blocks q8_0
    %w1 = kernel.weight @eight -> tensor<32x32xf32>
    %d1 = tensor.empty(%rows) : tensor<?x32xf32>
    %1 = kernel.matmul %x, %w1 outs(%d1 : tensor<?x32xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
    // CHECK: kernel.quantize %{{.*}} -> tensor<?x32xui8>
    // CHECK: } : tensor<?x32xui8>, tensor<32x32xi8>
    %w2 = kernel.weight @bytes -> tensor<32x32xf32>
    %d2 = tensor.empty(%rows) : tensor<?x32xf32>
    %2 = kernel.matmul %x, %w2 outs(%d2 : tensor<?x32xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
    // CHECK: } : tensor<?x32xbf16>, tensor<32x32xbf16> -> tensor<?x32xf32>
    %w3 = kernel.weight @half -> tensor<32x32xf32>
    %d3 = tensor.empty(%rows) : tensor<?x32xf32>
    %3 = kernel.matmul %x, %w3 outs(%d3 : tensor<?x32xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
    // CHECK: } : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
    %w4 = kernel.weight @wide -> tensor<32x32xf32>
    %d4 = tensor.empty(%rows) : tensor<?x32xf32>
    %4 = kernel.matmul %x, %w4 outs(%d4 : tensor<?x32xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
    // CHECK-NOT: kernel.quantize
    // CHECK: accumulators 2 blocks q8_0
    %w5 = kernel.weight #transformer.concat<@plain, @eight> -> tensor<64x32xf32>
    %d5 = tensor.empty(%rows) : tensor<?x32xf32>
    %5 = kernel.matmul %x, %w5 outs(%d5 : tensor<?x32xf32>) accumulators 2 {
    ^bb0(%acc: f32, %other: f32):
      kernel.yield %acc : f32
    } : tensor<?x32xf32>, tensor<64x32xf32> -> tensor<?x32xf32>
    return %5 : tensor<?x32xf32>
  }
}
