// RUN: %mille-opt %s --find-padding --split-input-file --remarks-filter=plan --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAYS < %t

// Attention hides what the mask hides, and nothing else looks across rows.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: attributes {kernel.mask_input = 1 : i64, kernel.padding_ends = 3 : i64}
// SAYS: rows that attention_mask hides at either end of a sequence are removed
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true window [4, 0]
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = tensor.empty(%batch) : tensor<?xi32>
  %i = kernel.pool_index of %m : tensor<?xi32> tokens %tokens kind last skip 0 id 0 outs(%1 : tensor<?xi32>) -> tensor<?xi32>
  %2 = tensor.empty(%batch) : tensor<?x8xf32>
  %p = kernel.rows ins(%y : tensor<?x8xf32>) indices(%i : tensor<?xi32>) outs(%2 : tensor<?x8xf32>) gather [0] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x8xf32>
  return %y, %p : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// Without a mask nothing says what padding is.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y = kernel.attention %x, %x, %x queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A chunk begins where the sequence does.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: kernel.padding_ends = 1 : i64
// SAYS: rows that attention_mask hides at the end of a sequence are removed, not those before it: attention's chunks begin at a sequence's first token
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true chunk 4
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// So does a prefix.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: kernel.padding_ends = 1 : i64
// SAYS: rows that attention_mask hides at the end of a sequence are removed, not those before it: attention's prefix begins at a sequence's first token
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>}, %p: tensor<?xi32> {transformer.name = "p", transformer.shape = #transformer.shape<batch>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32>
    prefix %p : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Causal attention without a mask does not see what follows.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: kernel.padding_ends = 1 : i64
// SAYS: rows that attention_mask hides at the end of a sequence are removed, not those before it: attention sees keys that the mask hides before its tokens
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y0 = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %y = kernel.attention %y0, %y0, %y0  queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Other attention without a mask sees all.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: attention sees keys that the mask hides
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y0 = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %y = kernel.attention %y0, %y0, %y0  queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A bias by pair is as wide as all tokens.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: attention's bias has a column per pair of all tokens
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %w = kernel.weight @bias -> tensor<2x9xf32>
  %y = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32>
    bias %w : tensor<2x9xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false bias_by pair
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Windows are of all tokens.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: attention groups tokens in windows
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %four = arith.constant 4 : index
  %y0 = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %y = kernel.attention %y0, %y0, %y0  queries %four keys %four first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// The first token may be padding, and counts all the same.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: kernel.padding_ends = 1 : i64
// SAYS: rows that attention_mask hides at the end of a sequence are removed, not those before it: the first token of a sequence is pooled, masked or not
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y0 = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = tensor.empty(%batch) : tensor<?xi32>
  %i = kernel.pool_index  tokens %tokens kind first skip 0 id 0 outs(%1 : tensor<?xi32>) -> tensor<?xi32>
  %2 = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.rows ins(%y0 : tensor<?x8xf32>) indices(%i : tensor<?xi32>) outs(%2 : tensor<?x8xf32>) gather [0] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// So may the last one, of no mask,
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: a token is pooled that may be padding
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y0 = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = tensor.empty(%batch) : tensor<?xi32>
  %i = kernel.pool_index  tokens %tokens kind last skip 0 id 0 outs(%1 : tensor<?xi32>) -> tensor<?xi32>
  %2 = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.rows ins(%y0 : tensor<?x8xf32>) indices(%i : tensor<?xi32>) outs(%2 : tensor<?x8xf32>) gather [0] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// the second,
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: a token is pooled that may be padding
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y0 = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = tensor.empty(%batch) : tensor<?xi32>
  %i = kernel.pool_index  tokens %tokens kind first skip 1 id 0 outs(%1 : tensor<?xi32>) -> tensor<?xi32>
  %2 = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.rows ins(%y0 : tensor<?x8xf32>) indices(%i : tensor<?xi32>) outs(%2 : tensor<?x8xf32>) gather [0] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// and one that is found by its id.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: a token is pooled that may be padding
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y0 = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = tensor.empty(%batch) : tensor<?xi32>
  %i = kernel.pool_index of %m : tensor<?xi32> tokens %tokens kind first_id skip 0 id 0 outs(%1 : tensor<?xi32>) -> tensor<?xi32>
  %2 = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.rows ins(%y0 : tensor<?x8xf32>) indices(%i : tensor<?xi32>) outs(%2 : tensor<?x8xf32>) gather [0] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A mean over all tokens.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: padding is in the mean of a sequence's tokens
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y0 = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %2 = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.pool_mean %y0 tokens %tokens outs(%2 : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Rows at numbers of unknown origin.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: rows of tokens are read by numbers that are no pooling's
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>}, %i: tensor<?xi32> {transformer.name = "i", transformer.shape = #transformer.shape<batch>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y0 = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %2 = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.rows ins(%y0 : tensor<?x8xf32>) indices(%i : tensor<?xi32>) outs(%2 : tensor<?x8xf32>) gather [0] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Keys counted without the mask.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: a query's scale counts keys that the mask hides
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %0 = tensor.empty(%rows) : tensor<?x1xf32>
  %s = kernel.query_scale tokens %tokens scale <log_keys, base = 512.0, floor = 16.0> causal false outs(%0 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %y = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32>
    query_scale %s : tensor<?x1xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// The largest position of all, where no input holds it.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: rotations follow the largest position, counted with padding
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %3 = tensor.empty(%rows) : tensor<?xi32>
  %c = kernel.count_tokens %m tokens %tokens outs(%3 : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
  %4 = tensor.empty(%rows) : tensor<?x4xf32>
  %r = kernel.rotation %c frequencies [1.0, 0.01] factor 1.0 long <after = 16, frequencies = [1.0, 0.001]> outs(%4 : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
  %y = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32>
    rotation %r : tensor<?x4xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Counts of counts.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: positions are counted in rows that are no input
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %3 = tensor.empty(%rows) : tensor<?xi32>
  %c = kernel.count_tokens %m tokens %tokens outs(%3 : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
  %d = kernel.count_tokens %c tokens %tokens outs(%3 : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
  %y = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32>
    segments %d : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Tokens in another order.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: kernel.gather_tokens joins rows
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y0 = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %2 = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.gather_tokens %y0 index [1] group 1 tokens 2 outs(%2 : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// An input whose tokens come third.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: an input has its tokens in another dimension than the second
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>}, %z: tensor<?x8xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, 2, tokens, 8>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Positions compared in two sequences.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: kernel.padding_ends = 1 : i64
// SAYS: rows that attention_mask hides at the end of a sequence are removed, not those before it: attention compares positions in two sequences
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>}, %z: tensor<?x8xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, 4, 8>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %y0 = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %four = arith.constant 4 : index
  %fours = arith.muli %batch, %four : index
  %5 = tensor.empty(%fours) : tensor<?x8xf32>
  %y = kernel.attention %z, %y0, %y0 key_mask %m : tensor<?xi32> queries %four keys %tokens first %zero outs(%5 : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false window [4, 0]
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Linear attention hides by its mask, too; of windows it does not.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: kernel.padding_ends
// SAYS: rows that attention_mask hides are computed: linear attention groups tokens in windows
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %four = arith.constant 4 : index
  %w = kernel.weight @decay -> tensor<2xf32>
  %y0 = kernel.linear_attention %x, %x, %x key_mask %m : tensor<?xi32> decay %w : tensor<2xf32> tokens %tokens outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 1.0
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %y = kernel.linear_attention %y0, %y0, %y0 decay %w : tensor<2xf32> tokens %four outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 1.0
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Counted positions turn any row by its own.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: kernel.padding_ends = 3 : i64
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %3 = tensor.empty(%rows) : tensor<?xi32>
  %c = kernel.count_tokens %m tokens %tokens outs(%3 : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
  %4 = tensor.empty(%rows) : tensor<?x4xf32>
  %r = kernel.rotation %c frequencies [1.0, 0.01] factor 1.0 outs(%4 : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
  %y = kernel.attention %x, %x, %x key_mask %m : tensor<?xi32>
    rotation %r : tensor<?x4xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal false
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Linear attention looks back: without the mask it sees the padding before its tokens.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: kernel.padding_ends = 1 : i64
// SAYS: rows that attention_mask hides at the end of a sequence are removed, not those before it: attention sees keys that the mask hides before its tokens
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x8xf32>
  %w = kernel.weight @decay -> tensor<2xf32>
  %y0 = kernel.linear_attention %x, %x, %x key_mask %m : tensor<?xi32> decay %w : tensor<2xf32> tokens %tokens outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 1.0
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %y = kernel.linear_attention %y0, %y0, %y0 decay %w : tensor<2xf32> tokens %tokens outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 1.0
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
