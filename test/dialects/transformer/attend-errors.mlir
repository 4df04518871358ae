// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @attend_c1(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{kv_heads is 3 but must divide heads, which is 4}}
  %o = transformer.attend %q, %k, %v heads 4 kv_heads 3 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c1_size(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{head_dim is 0 but must be > 0}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 0 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c2_query(%q: tensor<?x?x12xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{query has 12 channels but heads is 2 and head_dim is 4}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x12xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c2_key(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{key has 8 channels but kv_heads is 1 and head_dim is 4}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c2_value(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x8xf32>) {
  // expected-error @+1 {{value has 8 channels but kv_heads is 1 and value_dim is 4}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c2_result(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{result has 4 channels but heads is 2 and value_dim is 4}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
  return
}

// -----

func.func @attend_c2_rank(%q: tensor<?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{query is [?, 8] but must be [batch, tokens, channels]}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c3(%q: tensor<?x?x8xf32>, %k: tensor<?x5x4xf32>, %v: tensor<?x6x4xf32>) {
  // expected-error @+1 {{key is [?, 5, 4] but value is [?, 6, 4]}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x8xf32>, tensor<?x5x4xf32>, tensor<?x6x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c3_result(%q: tensor<?x5x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{query is [?, 5, 8] but result is [?, 6, 8] and key is [?, ?, 4]}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x5x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x6x8xf32>
  return
}

// -----

func.func @attend_c3_mask(%q: tensor<?x?x8xf32>, %k: tensor<?x5x4xf32>, %v: tensor<?x?x4xf32>, %m: tensor<?x4xi32>) {
  // expected-error @+1 {{key_mask is [?, 4] but key is [?, 5, 4]}}
  %o = transformer.attend %q, %k, %v key_mask %m : tensor<?x4xi32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x8xf32>, tensor<?x5x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c4(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{scale is inf but must be finite}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0x7FF0000000000000 mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c4_softcap(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{softcap is -1.0 but must be finite and >= 0}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal softcap -1.0
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c5(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>, %b: tensor<?x1x?x?xf32>) {
  // expected-error @+1 {{bias is [?, 1, ?, ?] but query is [?, ?, 8] with 2 heads}}
  %o = transformer.attend %q, %k, %v bias %b : tensor<?x1x?x?xf32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c3_positions(%q: tensor<?x5x8xf32>, %k: tensor<?x5x4xf32>, %v: tensor<?x5x4xf32>, %p: tensor<?x4xi32>) {
  // expected-error @+1 {{positions is [?, 4] but query is [?, 5, 8]}}
  %o = transformer.attend %q, %k, %v positions %p : tensor<?x4xi32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x5x8xf32>, tensor<?x5x4xf32>, tensor<?x5x4xf32> -> tensor<?x5x8xf32>
  return
}

// -----

func.func @attend_c3_segments(%q: tensor<?x5x8xf32>, %k: tensor<?x5x4xf32>, %v: tensor<?x5x4xf32>, %s: tensor<?x4xi32>) {
  // expected-error @+1 {{segments is [?, 4] but query is [?, 5, 8]}}
  %o = transformer.attend %q, %k, %v segments %s : tensor<?x4xi32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x5x8xf32>, tensor<?x5x4xf32>, tensor<?x5x4xf32> -> tensor<?x5x8xf32>
  return
}

// -----

func.func @attend_c3_segments_of_keys(%q: tensor<?x5x8xf32>, %k: tensor<?x6x4xf32>, %v: tensor<?x6x4xf32>, %s: tensor<?x5xi32>) {
  // expected-error @+1 {{segments is [?, 5] but key is [?, 6, 4]}}
  %o = transformer.attend %q, %k, %v segments %s : tensor<?x5xi32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask bidirectional
    : tensor<?x5x8xf32>, tensor<?x6x4xf32>, tensor<?x6x4xf32> -> tensor<?x5x8xf32>
  return
}

// -----

func.func @attend_c3_prefix(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>, %n: tensor<?x?xi32>) {
  // expected-error @+1 {{prefix is [?, ?] but query is [?, ?, 8]}}
  %o = transformer.attend %q, %k, %v prefix %n : tensor<?x?xi32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

// A bias is of one sequence: 3 tokens here.
func.func @attend_c5_sequences(%q: tensor<?x6x8xf32>, %k: tensor<?x6x4xf32>, %v: tensor<?x6x4xf32>, %b: tensor<?x2x6x6xf32>) {
  // expected-error @+1 {{bias is [?, 2, 6, 6] but query is [?, 6, 8] with 2 heads}}
  %o = transformer.attend %q, %k, %v bias %b : tensor<?x2x6x6xf32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask bidirectional sequences 2
    : tensor<?x6x8xf32>, tensor<?x6x4xf32>, tensor<?x6x4xf32> -> tensor<?x6x8xf32>
  return
}

// -----

func.func @attend_c6(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{window must be two numbers >= 0, left and right}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal window [4]
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c6_sign(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{window must be two numbers >= 0, left and right}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal window [4, -1]
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c6_chunk(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{chunk is -1 but must be >= 0}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal chunk -1
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c7(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{sequences is 0 but must be > 0}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal sequences 0
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c7_tokens(%q: tensor<?x5x8xf32>, %k: tensor<?x5x4xf32>, %v: tensor<?x5x4xf32>) {
  // expected-error @+1 {{query has 5 tokens but sequences is 2}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal sequences 2
    : tensor<?x5x8xf32>, tensor<?x5x4xf32>, tensor<?x5x4xf32> -> tensor<?x5x8xf32>
  return
}

// -----

func.func @attend_c7_keys(%q: tensor<?x?x8xf32>, %k: tensor<?x5x4xf32>, %v: tensor<?x5x4xf32>) {
  // expected-error @+1 {{key has 5 tokens but sequences is 2}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal sequences 2
    : tensor<?x?x8xf32>, tensor<?x5x4xf32>, tensor<?x5x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

transformer.model @attend_c8 {
  // expected-note @+1 {{@s is given here}}
  transformer.parameter @s : tensor<4xf32> = #transformer.stored<"f", "s", tensor<4xf32>>
  func.func @forward(%q: tensor<?x?x8xf32> {transformer.name = "q"}, %k: tensor<?x?x4xf32> {transformer.name = "k"}, %v: tensor<?x?x4xf32> {transformer.name = "v"}) {
    // expected-error @+1 {{sink @s is [4] but must be [2]}}
    %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 sink @s mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @attend_c8_head_scale {
  // expected-note @+1 {{@s is given here}}
  transformer.parameter @s : tensor<1xf32> = #transformer.stored<"f", "s", tensor<1xf32>>
  func.func @forward(%q: tensor<?x?x8xf32> {transformer.name = "q"}, %k: tensor<?x?x4xf32> {transformer.name = "k"}, %v: tensor<?x?x4xf32> {transformer.name = "v"}) {
    // expected-error @+1 {{head_scale @s is [1] but must be [2]}}
    %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 head_scale @s mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
    return
  }
}

// -----

func.func @attend_c9(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{has a log_floor length_scale but no positions}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 length_scale <log_floor, beta = 0.1, period = 4> mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

transformer.model @attend_c10 {
  transformer.parameter @s : tensor<1xf32> = #transformer.stored<"f", "s", tensor<1xf32>>
  func.func @forward(%q: tensor<?x?x8xf32> {transformer.name = "q"}, %k: tensor<?x?x4xf32> {transformer.name = "k"}, %v: tensor<?x?x4xf32> {transformer.name = "v"}) {
    // expected-error @+1 {{layer_scale names @s, which is not a number of the layer table}}
    %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 layer_scale @s mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @attend_c10_missing {
  func.func @forward(%q: tensor<?x?x8xf32> {transformer.name = "q"}, %k: tensor<?x?x4xf32> {transformer.name = "k"}, %v: tensor<?x?x4xf32> {transformer.name = "v"}) {
    // expected-error @+1 {{layer_scale names @s, which is not a number of the layer table}}
    %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 layer_scale @s mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
    return
  }
}

// -----

func.func @attend_c11(%x: tensor<?x4x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{has past but is not over one sequence without a prefix}}
  %o = transformer.attend %x, %x, %x past %past : tensor<?xi32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5 mask causal sequences 2
    : tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  return
}

// -----

func.func @attend_c12(%x: tensor<?x?x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{has past and sees all keys but has biases, segments, a window or a chunk}}
  %o = transformer.attend %x, %x, %x past %past : tensor<?xi32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5 mask bidirectional window [3, 0]
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_c11_batch(%x: tensor<2x?x8xf32>, %past: tensor<3xi32>) {
  // expected-error @+1 {{past is [3] but must be [2]}}
  %o = transformer.attend %x, %x, %x past %past : tensor<3xi32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32> -> tensor<2x?x8xf32>
  return
}

// -----

func.func @attend_c7_each(%q: tensor<?x6x8xf32>, %k: tensor<?x6x4xf32>, %v: tensor<?x6x4xf32>) {
  // expected-error @+1 {{sequence_tokens is 3 but must be > 0, of run-time tokens, with sequences 1}}
  %o = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask bidirectional sequence_tokens 3
    : tensor<?x6x8xf32>, tensor<?x6x4xf32>, tensor<?x6x4xf32> -> tensor<?x6x8xf32>
  return
}
