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
