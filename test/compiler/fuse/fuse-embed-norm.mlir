// RUN: %mille-opt %s --fuse-embed-norm --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --fuse-embed-norm --fuse-embed-norm --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// CHECK-LABEL: transformer.model @norm_of_an_embedding
// CHECK: kernel.fusions = [{boundary = "embed-norm", bytes_saved = 16 : i64, launches_saved = 1 : i64, layers = "", reason = "in the task that gathers the rows", status = "fused", unit = "embed"}]
// CHECK: %[[L:.*]] = kernel.launch {
// CHECK: %[[E:.*]] = kernel.rows {{.*}} gather [0]
// CHECK: %[[N:.*]] = kernel.rows ins(%[[E]], {{.*}} norm <layer,
// CHECK: kernel.yield %[[N]] : tensor<?x4xf32>
// CHECK: return %[[L]]
transformer.model @norm_of_an_embedding {
  transformer.parameter @embed.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "embed.weight", tensor<8x4xf32>>
  transformer.parameter @embed_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "embed_norm.weight", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %ids: tensor<?xi32> {transformer.name = "input_ids", transformer.shape = #transformer.shape<batch, tokens>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %t = kernel.weight @embed.weight -> tensor<8x4xf32>
    %g = kernel.weight @embed_norm.weight -> tensor<4xf32>
    %de = tensor.empty(%rows) : tensor<?x4xf32>
    %e = kernel.rows ins(%t : tensor<8x4xf32>) indices(%ids : tensor<?xi32>) outs(%de : tensor<?x4xf32>) gather [0] {
    ^bb0(%in_a: f32):
      kernel.yield %in_a : f32
    } -> tensor<?x4xf32>
    %dn = tensor.empty(%rows) : tensor<?x4xf32>
    %n = kernel.rows ins(%e, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%dn : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %n : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_norm_is_in_the_layer_loop
// CHECK: boundary = "embed-norm", {{.*}} reason = "the norm is in the layer loop, and not every layer begins with it", status = "declined: missing", unit = "embed"
// CHECK-NOT: kernel.launch
// REMARK: embed keeps embed-norm apart, declined: missing: the norm is in the layer loop
transformer.model @keep_as_norm_is_in_the_layer_loop {
  transformer.parameter @embed.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "embed.weight", tensor<8x4xf32>>
  transformer.parameter @embed_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "embed_norm.weight", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %ids: tensor<?xi32> {transformer.name = "input_ids", transformer.shape = #transformer.shape<batch, tokens>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %t = kernel.weight @embed.weight -> tensor<8x4xf32>
    %g = kernel.weight @embed_norm.weight -> tensor<4xf32>
    %de = tensor.empty(%rows) : tensor<?x4xf32>
    %e = kernel.rows ins(%t : tensor<8x4xf32>) indices(%ids : tensor<?xi32>) outs(%de : tensor<?x4xf32>) gather [0] {
    ^bb0(%in_a: f32):
      kernel.yield %in_a : f32
    } -> tensor<?x4xf32>
    %l = kernel.layers %e slots [[]] bodies [0, 0] table [[], []] {
    ^bb0(%s: tensor<?x4xf32>):
    %dn = tensor.empty(%rows) : tensor<?x4xf32>
    %n = kernel.rows ins(%s, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%dn : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    kernel.yield %n : tensor<?x4xf32>
    } : tensor<?x4xf32> -> tensor<?x4xf32>
    return %l : tensor<?x4xf32>
  }
}
