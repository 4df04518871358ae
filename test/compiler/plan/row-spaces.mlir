// RUN: %mille-opt %s --plan-memory --split-input-file --verify-diagnostics | FileCheck %s

// Two loops over rows of different lengths: what the first gives lives as long as
// the second, whose body reads it; each has buffers of its own rows.
// CHECK-LABEL: func.func @encoder_decoder
// CHECK-SAME: (%[[B:[a-z0-9]+]]: index {kernel.size = "batch"}, %[[T:[a-z0-9]+]]: index {kernel.size = "tokens"}, %[[D:[a-z0-9]+]]: index {kernel.size = "decoder_tokens"}
// CHECK-SAME: kernel.arena_bytes_per_row = 192
// CHECK-DAG: %[[ROWS:.*]] = arith.muli %[[B]], %[[T]] : index
// CHECK-DAG: %[[DECODER_ROWS:.*]] = arith.muli %[[B]], %[[D]] : index
// CHECK: %[[E0:.*]] = kernel.arena offset [[E0_AT:[0-9]+]] rows %[[ROWS]]
// CHECK: %[[E1:.*]] = kernel.arena offset [[E1_AT:[0-9]+]] rows %[[ROWS]]
// CHECK: kernel.layers %[[E0]], %[[E1]]
// CHECK: %[[D0:.*]] = kernel.arena offset {{[0-9]+}} rows %[[DECODER_ROWS]]
// CHECK: %[[D1:.*]] = kernel.arena offset {{[0-9]+}} rows %[[DECODER_ROWS]]
// CHECK: kernel.layers %[[D0]], %[[D1]]
// CHECK-NOT: kernel.arena offset [[E1_AT]]
// CHECK: kernel.attention %{{.*}}, %[[E1]], %[[E1]] queries %[[D]] keys %[[T]]
func.func @encoder_decoder(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %decoder_tokens: index {kernel.size = "decoder_tokens"},
    %x: tensor<?x16xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 16>},
    %y: tensor<?x16xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, decoder_tokens, 16>})
    -> (tensor<?x16xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, decoder_tokens, 16>})
    {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %decoder_rows = arith.muli %batch, %decoder_tokens : index
  %o = tensor.empty(%rows) : tensor<?x16xf32>
  %p = tensor.empty(%decoder_rows) : tensor<?x16xf32>
  %e = kernel.layers %x slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x16xf32>):
    %b = kernel.rows ins(%s : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    } -> tensor<?x16xf32>
    kernel.yield %b : tensor<?x16xf32>
  } : tensor<?x16xf32> -> tensor<?x16xf32>
  %z = kernel.layers %y slots [[]] bodies [0, 0] table [[], []] {
  ^bb0(%s: tensor<?x16xf32>):
    %b = kernel.attention %s, %e, %e queries %decoder_tokens keys %tokens first %zero outs(%p : tensor<?x16xf32>)
      heads 2 kv_heads 2 head_dim 8 value_dim 8 offsets [0, 0, 0] scale 0.5 causal false
      : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
    kernel.yield %b : tensor<?x16xf32>
  } : tensor<?x16xf32> -> tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}

// -----

// Slots of experts take k times a row's bytes; each of route's outs has a buffer;
// [entries + 1] shares the rows that every run has.
// CHECK-LABEL: func.func @experts
// CHECK-SAME: kernel.slots = 2
// CHECK: %[[W:.*]] = kernel.arena offset {{[0-9]+}} rows %{{.*}} : memref<?x2xf32, strided<[16, 1]>>
// CHECK: %[[O:.*]] = kernel.arena offset {{[0-9]+}} rows %[[SLOTS:.*]] : memref<?xi32>
// CHECK: %[[P:.*]] = kernel.arena offset {{[0-9]+}} rows %[[SLOTS]] : memref<?xi32>
// CHECK: %[[S:.*]] = kernel.arena fixed offset {{[0-9]+}} rows %{{.*}} : memref<9xi32>
// CHECK: kernel.route %{{.*}} outs(%[[W]], %[[O]], %[[P]], %[[S]] :
// CHECK: %[[X:.*]] = kernel.arena offset {{[0-9]+}} rows %[[SLOTS]] : memref<?x16xf32>
// CHECK: kernel.dispatch %{{.*}} order %[[O]] : {{.*}} place %[[P]] : {{.*}} outs(%[[X]] :
// CHECK: kernel.matmul %[[X]], %{{.*}} starts %[[S]] :
// CHECK: kernel.combine {{.*}} place %[[P]] : {{.*}} times %[[W]] :
func.func @experts(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
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
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  %4 = tensor.empty(%slots) : tensor<?x16xf32>
  %d = kernel.dispatch %x order %o : tensor<?xi32> place %p : tensor<?xi32> outs(%4 : tensor<?x16xf32>) k 2 : tensor<?x16xf32> -> tensor<?x16xf32>
  %weight = kernel.weight @w -> tensor<8x16x16xf32>
  %m = kernel.matmul %d, %weight starts %s : tensor<9xi32> outs(%4 : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x16xf32>, tensor<8x16x16xf32> -> tensor<?x16xf32>
  %5 = tensor.empty(%rows) : tensor<?x16xf32>
  %y = kernel.combine %m place %p : tensor<?xi32> times %w : tensor<?x2xf32> outs(%5 : tensor<?x16xf32>) k 2 : tensor<?x16xf32> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// An image's patches are a fixed number of rows, which the function says; what
// similarity writes is an output [batch, batch].
// CHECK-LABEL: func.func @patches
// CHECK-SAME: memref<?x?xf32> {kernel.output, transformer.name = "logits", transformer.shape = #transformer.shape<batch, batch>}
// CHECK-SAME: kernel.fixed_tokens = 5
// CHECK-DAG: %[[FIVE:.*]] = arith.constant 5
// CHECK-DAG: %[[ROWS:.*]] = arith.muli %{{.*}}, %[[FIVE]]
// CHECK: kernel.arena offset {{[0-9]+}} rows %[[ROWS]] : memref<?x48xf32>
// CHECK: kernel.patches
// CHECK: kernel.gather_tokens
// CHECK: kernel.pool_mean
// CHECK: kernel.similarity {{.*}} as "logits"
func.func @patches(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x192xf32> {transformer.name = "pixels", transformer.shape = #transformer.shape<batch, 3, 8, 8>})
    -> (tensor<?x96xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, 2, 96>}) {
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %pairs = arith.muli %batch, %c2 : index
  %rows = arith.muli %batch, %c5 : index
  %o = tensor.empty(%rows) : tensor<?x48xf32>
  %p = kernel.patches %x image [3, 8, 8] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
  %q = tensor.empty(%pairs) : tensor<?x96xf32>
  %y = kernel.gather_tokens %p index [1, 2, 3, -1] group 2 tokens 5 outs(%q : tensor<?x96xf32>) : tensor<?x48xf32> -> tensor<?x96xf32>
  %e = tensor.empty(%batch) : tensor<?x48xf32>
  %m = kernel.pool_mean %p tokens %c5 skip 1 outs(%e : tensor<?x48xf32>) : tensor<?x48xf32> -> tensor<?x48xf32>
  kernel.similarity %m, %m as "logits" : tensor<?x48xf32>, tensor<?x48xf32>
  return %y : tensor<?x96xf32>
}

// -----

func.func @unknown_rows(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x16xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 16>})
    -> (tensor<?x16xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 16>}) {
  %rows = arith.addi %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x16xf32>
  // expected-error @below {{rows of 'tensor<?x16xf32>' are no product of batch, another size and numbers}}
  %a = kernel.rows ins(%x : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x16xf32>
  %y = kernel.rows ins(%a : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

func.func @kept_apart(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %y: tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, 5, 8>}) {
  kernel.keep %x as "hidden_states" index 0 : tensor<?x8xf32>
  // expected-error @below {{writes [batch, 5, 8] but "hidden_states" is [2, batch, tokens, 8]}}
  kernel.keep %y as "hidden_states" index 1 : tensor<?x8xf32>
  return
}
