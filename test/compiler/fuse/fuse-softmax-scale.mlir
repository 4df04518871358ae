// RUN: %mille-opt %s --fuse-softmax-scale --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: %mille-opt %s --fuse-softmax-scale --fuse-softmax-scale --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// CHECK-LABEL: transformer.model @attention
// CHECK: kernel.fusions = [{boundary = "softmax-scale", bytes_saved = 0 : i64, launches_saved = 0 : i64, layers = "", reason = "with log2 e in the transposed queries", status = "fused", unit = "a"}]
transformer.model @attention {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %q, %q queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}
