// RUN: %mille-opt %s --fuse-rope --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: %mille-opt %s --fuse-rope --fuse-rope --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// CHECK-LABEL: transformer.model @rotated
// CHECK: kernel.fusions = [{boundary = "rope", bytes_saved = 64 : i64, launches_saved = 0 : i64, layers = "", reason = "in the attention's prologue", status = "fused", unit = "a"}]
transformer.model @rotated {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %positions: tensor<?xi32> {transformer.name = "position_ids", transformer.shape = #transformer.shape<batch, tokens>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %ra = tensor.empty(%rows) : tensor<?x2xf32>
    %rot = kernel.rotation %positions frequencies [1.0] factor 1.0 outs(%ra : tensor<?x2xf32>) : tensor<?xi32> -> tensor<?x2xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %q, %q rotation %rot : tensor<?x2xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_nothing_is_rotated
// CHECK-NOT: kernel.fusions
transformer.model @keep_as_nothing_is_rotated {
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
