// RUN: %mille-opt %s --plan-memory --remarks-filter=plan --remark-format=emitRemark 2>&1 | FileCheck %s

// CHECK: rows of 4096 bytes take 4160
// CHECK: arena of 3 buffers takes 8320 bytes per row, 12480 without reuse
func.func @reuse(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x1024xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 1024>})
    -> (tensor<?x1024xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 1024>}) {
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x1024xf32>
  %a = kernel.rows ins(%x : tensor<?x1024xf32>) outs(%o : tensor<?x1024xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x1024xf32>
  %b = kernel.rows ins(%a : tensor<?x1024xf32>) outs(%o : tensor<?x1024xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x1024xf32>
  %c = kernel.rows ins(%b : tensor<?x1024xf32>) outs(%o : tensor<?x1024xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x1024xf32>
  %d = kernel.rows ins(%c : tensor<?x1024xf32>) outs(%o : tensor<?x1024xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x1024xf32>
  return %d : tensor<?x1024xf32>
}

// Two kernels of one launch: when they share tasks, and what each task reads.
// CHECK: one task takes its rows through 2 kernels, reading 4096 bytes of weights, where each thread has 48 rows or more; with fewer, or where threads multiply narrow types in tile registers, they are 2 launches, cut by columns
module {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x16xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 16>})
      -> (tensor<?x16xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 16>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight #transformer.pack<@w, panel = 64, accumulators = 1> -> tensor<1x16x64xf32>
    %z = kernel.launch {
      %o = tensor.empty(%rows) : tensor<?x16xf32>
      %a = kernel.matmul %x, %w outs(%o : tensor<?x16xf32>) accumulators 1 {
      ^bb0(%acc: f32):
        kernel.yield %acc : f32
      } : tensor<?x16xf32>, tensor<1x16x64xf32> -> tensor<?x16xf32>
      %p = tensor.empty(%rows) : tensor<?x16xf32>
      %b = kernel.rows ins(%a : tensor<?x16xf32>) outs(%p : tensor<?x16xf32>) gather [-1] {
      ^bb0(%n: f32):
        kernel.yield %n : f32
      } -> tensor<?x16xf32>
      kernel.yield %b : tensor<?x16xf32>
    } : tensor<?x16xf32>
    return %z : tensor<?x16xf32>
  }
}
