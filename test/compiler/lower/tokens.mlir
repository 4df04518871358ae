// RUN: %mille-opt %s --plan-memory --lower-program=name=tiny --split-input-file --verify-diagnostics | FileCheck %s

// Each prepared op is a call; attributes are numbers beside it.
// CHECK: llvm.func internal @tiny_forward(%[[CONTEXT:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.call @mille_token_numbers(%[[CONTEXT]],
// CHECK: llvm.call @mille_count_tokens(%[[CONTEXT]],
// CHECK: llvm.call @mille_alibi(%[[CONTEXT]],
// CHECK: llvm.call @mille_rotation(%[[CONTEXT]],
// CHECK: llvm.call @mille_query_scale(%[[CONTEXT]],
// CHECK: llvm.call @mille_gather_tokens(%[[CONTEXT]],
// CHECK: %[[POOLED:.*]] = llvm.call @mille_pool_mean(%[[CONTEXT]],
// CHECK: llvm.icmp "ne" %[[POOLED]],
// CHECK: llvm.call @mille_similarity(%[[CONTEXT]],
// CHECK-DAG: @numbers{{.*}}(dense<[7, 8, 9]> : tensor<3xi32>)
// CHECK-DAG: @numbers{{.*}}(dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf64>)
// CHECK-DAG: @numbers{{.*}}(dense<[1.000000e+00, 1.000000e-03]> : tensor<2xf64>)
// CHECK-DAG: @numbers{{.*}}(dense<[5.120000e+02, 1.600000e+01, 0.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<5xf64>)
// CHECK-DAG: @numbers{{.*}}(dense<[1, -1, 2, 0]> : tensor<4xi32>)
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %ids: tensor<?xi32> {transformer.name = "ids", transformer.shape = #transformer.shape<batch, tokens>},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, 3, 8>})
    -> (tensor<?x16xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, 2, 16>},
        tensor<?x8xf32> {transformer.name = "p", transformer.shape = #transformer.shape<batch, 8>},
        tensor<?x2xf32> {transformer.name = "a", transformer.shape = #transformer.shape<batch, tokens, 2>},
        tensor<?x4xf32> {transformer.name = "r", transformer.shape = #transformer.shape<batch, tokens, 4>},
        tensor<?x1xf32> {transformer.name = "s", transformer.shape = #transformer.shape<batch, tokens, 1>},
        tensor<?xi32> {transformer.name = "n", transformer.shape = #transformer.shape<batch, 3>},
        tensor<?xi32> {transformer.name = "c", transformer.shape = #transformer.shape<batch, tokens>}) {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %rows = arith.muli %batch, %tokens : index
  %pairs = arith.muli %batch, %two : index
  %triples = arith.muli %batch, %three : index
  %0 = tensor.empty(%triples) : tensor<?xi32>
  %n = kernel.token_numbers [7, 8, 9] outs(%0 : tensor<?xi32>) -> tensor<?xi32>
  %1 = tensor.empty(%rows) : tensor<?xi32>
  %c = kernel.count_tokens %ids tokens %tokens padding 1 outs(%1 : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
  %2 = tensor.empty(%rows) : tensor<?x2xf32>
  %a = kernel.alibi %c slopes [0.5, 0.25] factor 0.5 outs(%2 : tensor<?x2xf32>) : tensor<?xi32> -> tensor<?x2xf32>
  %3 = tensor.empty(%rows) : tensor<?x4xf32>
  %r = kernel.rotation %c frequencies [1.0, 0.01] factor 1.0 long <after = 16, frequencies = [1.0, 0.001]> outs(%3 : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
  %4 = tensor.empty(%rows) : tensor<?x1xf32>
  %s = kernel.query_scale key_mask %ids : tensor<?xi32> tokens %tokens scale <log_keys, base = 512.0, floor = 16.0> causal true window [4, 0] outs(%4 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %5 = tensor.empty(%pairs) : tensor<?x16xf32>
  %y = kernel.gather_tokens %x index [1, -1, 2, 0] group 2 tokens 3 outs(%5 : tensor<?x16xf32>) : tensor<?x8xf32> -> tensor<?x16xf32>
  %6 = tensor.empty(%batch) : tensor<?x8xf32>
  %p = kernel.pool_mean %x tokens %three skip 1 outs(%6 : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  kernel.similarity %p, %p as "similarity" : tensor<?x8xf32>, tensor<?x8xf32>
  return %y, %p, %a, %r, %s, %n, %c : tensor<?x16xf32>, tensor<?x8xf32>, tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?xi32>, tensor<?xi32>
}

// -----

// Experts: route's numbers; a stage with the places where experts begin, how many
// there are, and which of its buffers have an entry for each: weight and bias.
// CHECK: llvm.func internal @tiny_forward(%[[CONTEXT:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.call @mille_route(%[[CONTEXT]],
// CHECK: llvm.call @mille_launch
// CHECK-COUNT-4: llvm.call @describe
// CHECK-DAG: %[[EIGHT:.*]] = llvm.mlir.constant(8 : i64)
// CHECK-DAG: %[[STACKED:.*]] = llvm.mlir.constant(6 : i64)
// CHECK: %[[ENTRIES_AT:.*]] = llvm.getelementptr %{{.*}}[0, 5]
// CHECK-NEXT: llvm.store %[[EIGHT]], %[[ENTRIES_AT]]
// CHECK: %[[STACKED_AT:.*]] = llvm.getelementptr %{{.*}}[0, 6]
// CHECK-NEXT: llvm.store %[[STACKED]], %[[STACKED_AT]]
// CHECK: llvm.call @mille_launch
// CHECK: @numbers{{.*}}(dense<[8, 2, 1, 4, 2, 1, 1, 0]> : tensor<8xi32>)
// the weight's dimensions: 64, 16, panels, experts
// CHECK: llvm.mlir.global private constant @model.0
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x16xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 16>},
    %l: tensor<?x8xf32> {transformer.name = "l", transformer.shape = #transformer.shape<batch, tokens, 8>})
    -> (tensor<?x16xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 16>}) {
  %k = arith.constant 2 : index
  %rows = arith.muli %batch, %tokens : index
  %slots = arith.muli %rows, %k : index
  %0 = tensor.empty(%rows) : tensor<?x2xf32>
  %1 = tensor.empty(%slots) : tensor<?xi32>
  %2 = tensor.empty(%slots) : tensor<?xi32>
  %3 = tensor.empty() : tensor<9xi32>
  %w, %o, %p, %s = kernel.route %l outs(%0, %1, %2, %3 : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score sigmoid groups 4 top_groups 2 group_score sum_top2 renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  %4 = tensor.empty(%slots) : tensor<?x16xf32>
  %d = kernel.dispatch %x order %o : tensor<?xi32> place %p : tensor<?xi32> outs(%4 : tensor<?x16xf32>) k 2 : tensor<?x16xf32> -> tensor<?x16xf32>
  %weight = kernel.weight #transformer.pack<@w, panel = 64, accumulators = 1> -> tensor<8x1x16x64xf32>
  %bias = kernel.weight @b -> tensor<8x16xf32>
  %m = kernel.matmul %d, %weight starts %s : tensor<9xi32> extras(%bias : tensor<8x16xf32>) outs(%4 : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%acc: f32, %b: f32):
    %sum = arith.addf %acc, %b : f32
    kernel.yield %sum : f32
  } : tensor<?x16xf32>, tensor<8x1x16x64xf32> -> tensor<?x16xf32>
  %5 = tensor.empty(%rows) : tensor<?x16xf32>
  %y = kernel.combine %m place %p : tensor<?xi32> times %w : tensor<?x2xf32> outs(%5 : tensor<?x16xf32>) k 2 : tensor<?x16xf32> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// Attention over windows: rows of a sequence are its queries, whatever the batch.
// CHECK: llvm.func internal @tiny_forward
// CHECK: %[[QUERIES:.*]] = llvm.mlir.constant(13 : i64)
// CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[0, 3] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, ptr, i64, ptr, i64, i64, i32, i32, ptr, i32, i32)>
// CHECK-NEXT: llvm.store %[[QUERIES]], %[[AT]]
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, 39, 8>})
    -> (tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, 39, 8>}) {
  %c13 = arith.constant 13 : index
  %c39 = arith.constant 39 : index
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %c39 : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y = kernel.attention %x, %x, %x queries %c13 keys %c13 first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Rows of tokens are the run's own number (field 3); a stage says which buffers have
// these rows (key, value and mask: 2 + 4 + 8) and which scalar counts tokens
// (keys, after queries), so that the runtime gives each sequence its own.
// CHECK: llvm.func internal @tiny_forward
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %{{.*}}[0, 3] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i64, i64, i64, i64, ptr{{.*}})>
// CHECK-NEXT: %[[ROWS:.*]] = llvm.load %[[FIELD]]
// CHECK: %[[PICK:.*]] = llvm.mlir.constant(-1 : i64)
// CHECK: llvm.call @mille_pool_index(%{{.*}}, %{{.*}}, %[[PICK]],
// CHECK-DAG: %[[BUFFERS:.*]] = llvm.mlir.constant(14 : i32)
// CHECK-DAG: %[[SCALARS:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: %[[BUFFERS_AT:.*]] = llvm.getelementptr %{{.*}}[0, 7]
// CHECK-NEXT: llvm.store %[[BUFFERS]], %[[BUFFERS_AT]]
// CHECK: %[[SCALARS_AT:.*]] = llvm.getelementptr %{{.*}}[0, 8]
// CHECK-NEXT: llvm.store %[[SCALARS]], %[[SCALARS_AT]]
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %decoder: index {kernel.size = "decoder_tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "m", transformer.shape = #transformer.shape<batch, tokens>},
    %d: tensor<?x8xf32> {transformer.name = "d", transformer.shape = #transformer.shape<batch, decoder_tokens, 8>})
    -> (tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, decoder_tokens, 8>},
        tensor<?xi32> {transformer.name = "p", transformer.shape = #transformer.shape<batch>})
    attributes {kernel.padding_ends = 3 : i64, kernel.mask_input = 1 : i64} {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %decoderRows = arith.muli %batch, %decoder : index
  %1 = tensor.empty(%batch) : tensor<?xi32>
  %p = kernel.pool_index of %m : tensor<?xi32> tokens %tokens kind last skip 0 id 0 outs(%1 : tensor<?xi32>) -> tensor<?xi32>
  %o = tensor.empty(%decoderRows) : tensor<?x8xf32>
  %y = kernel.attention %d, %x, %x key_mask %m : tensor<?xi32> queries %decoder keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y, %p : tensor<?x8xf32>, tensor<?xi32>
}

// -----

func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %l: memref<?x2048xf32> {transformer.name = "l", transformer.shape = #transformer.shape<batch, tokens, 2048>})
    attributes {kernel.arena_bytes_per_row = 1024 : i64} {
  %rows = arith.muli %batch, %tokens : index
  %w = kernel.arena offset 0 rows %rows : memref<?x1xf32>
  %o = kernel.arena offset 64 rows %rows : memref<?xi32>
  %p = kernel.arena offset 128 rows %rows : memref<?xi32>
  %s = kernel.arena offset 192 rows %rows : memref<2049xi32>
  // expected-error @below {{chooses among 2048 experts but the most are 1024}}
  kernel.route %l outs(%w, %o, %p, %s : memref<?x1xf32>, memref<?xi32>, memref<?xi32>, memref<2049xi32>)
    k 1 score sigmoid groups 1 top_groups 1 group_score sum_top2 renormalised true softmax_chosen false epsilon 0.0 factor 1.0 : memref<?x2048xf32>
  return
}

// -----

// A scale of queries that see as many keys as there are: a window of 0 to both sides.
// CHECK: llvm.func internal @tiny_forward(%[[CONTEXT:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.mlir.constant(-1 : i64) : i64
// CHECK-NEXT: %[[CAUSAL:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT: %[[LEFT:.*]] = llvm.mlir.constant(0 : i64) : i64
// CHECK-NEXT: %[[RIGHT:.*]] = llvm.mlir.constant(0 : i64) : i64
// CHECK: llvm.call @mille_query_scale(%[[CONTEXT]], {{.*}}, %[[CAUSAL]], %[[LEFT]], %[[RIGHT]],
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %ids: tensor<?xi32> {transformer.name = "ids", transformer.shape = #transformer.shape<batch, tokens>})
    -> (tensor<?x1xf32> {transformer.name = "s", transformer.shape = #transformer.shape<batch, tokens, 1>}) {
  %rows = arith.muli %batch, %tokens : index
  %0 = tensor.empty(%rows) : tensor<?x1xf32>
  %s = kernel.query_scale key_mask %ids : tensor<?xi32> tokens %tokens scale <log_keys, base = 512.0, floor = 16.0> causal false outs(%0 : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %s : tensor<?x1xf32>
}
