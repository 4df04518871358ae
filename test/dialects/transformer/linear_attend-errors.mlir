// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @linear_attend_c1(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{kv_heads is 3 but must divide heads, which is 4}}
  %o = transformer.linear_attend %q, %k, %v heads 4 kv_heads 3 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c1_size(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{value_dim is 0 but must be > 0}}
  %o = transformer.linear_attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 0 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c2(%q: tensor<?x?x12xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{query has 12 channels but heads is 2 and head_dim is 4}}
  %o = transformer.linear_attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x12xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c2_key(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{key has 8 channels but kv_heads is 1 and head_dim is 4}}
  %o = transformer.linear_attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c2_value(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x8xf32>) {
  // expected-error @+1 {{value has 8 channels but kv_heads is 1 and value_dim is 4}}
  %o = transformer.linear_attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c2_result(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{result has 4 channels but heads is 2 and value_dim is 4}}
  %o = transformer.linear_attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
  return
}

// -----

func.func @linear_attend_c2_rank(%q: tensor<?x?x8xf32>, %k: tensor<?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{key is [?, 4] but must be [batch, tokens, channels]}}
  %o = transformer.linear_attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c2_unknown(%q: tensor<?x?x?xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{query has ? channels but heads is 2 and head_dim is 4}}
  %o = transformer.linear_attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x?xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c3(%q: tensor<?x5x8xf32>, %k: tensor<?x6x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{key is [?, 6, 4] but query is [?, 5, 8]}}
  %o = transformer.linear_attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x5x8xf32>, tensor<?x6x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c3_mask(%q: tensor<?x5x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>, %m: tensor<?x4xi32>) {
  // expected-error @+1 {{key_mask is [?, 4] but query is [?, 5, 8]}}
  %o = transformer.linear_attend %q, %k, %v key_mask %m : tensor<?x4xi32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x5x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c4(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @+1 {{scale is nan but must be finite}}
  %o = transformer.linear_attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0x7FF8000000000000 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}

// -----

transformer.model @linear_attend_c5 {
  // expected-note @+1 {{@d is given here}}
  transformer.parameter @d : tensor<4xf32> = #transformer.stored<"f", "d", tensor<4xf32>>
  func.func @forward(%q: tensor<?x?x8xf32> {transformer.name = "q"}, %k: tensor<?x?x4xf32> {transformer.name = "k"}, %v: tensor<?x?x4xf32> {transformer.name = "v"}) {
    // expected-error @+1 {{decay @d is [4] but must be [2]}}
    %o = transformer.linear_attend %q, %k, %v heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
    return
  }
}

// -----

func.func @linear_attend_c6(%x: tensor<?x?x8xf32>, %s: tensor<2x?x8x4xf32> {transformer.state}) {
  // expected-error @+1 {{must have both state and past, or neither}}
  %o = transformer.linear_attend %x, %x, %x state %s : tensor<2x?x8x4xf32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c6_shape(%x: tensor<?x?x8xf32>, %s: tensor<2x?x8x8xf32> {transformer.state}, %past: tensor<?xi32>) {
  // expected-error @+1 {{state is 'tensor<2x?x8x8xf32>' but must be f32 [?, ?, 8, 4]}}
  %o = transformer.linear_attend %x, %x, %x state %s : tensor<2x?x8x8xf32> past %past : tensor<?xi32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c6_type(%x: tensor<?x?x8xf32>, %s: tensor<2x?x8x4xi32> {transformer.state}, %past: tensor<?xi32>) {
  // expected-error @+1 {{state is 'tensor<2x?x8x4xi32>' but must be f32 [?, ?, 8, 4]}}
  %o = transformer.linear_attend %x, %x, %x state %s : tensor<2x?x8x4xi32> past %past : tensor<?xi32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attend_c6_index(%x: tensor<?x?x8xf32>, %s: tensor<2x?x8x4xf32> {transformer.state}, %past: tensor<?xi32>) {
  // expected-error @+1 {{index is 2 but the state has entries 0 to 1}}
  %o = transformer.linear_attend %x, %x, %x state %s : tensor<2x?x8x4xf32> index 2 past %past : tensor<?xi32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

// expected-note @+1 {{it comes from here}}
func.func @linear_attend_c6_argument(%x: tensor<?x?x8xf32>, %s: tensor<2x?x8x4xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{has a state that is no argument with transformer.state}}
  %o = transformer.linear_attend %x, %x, %x state %s : tensor<2x?x8x4xf32> past %past : tensor<?xi32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 1.0 decay @d
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}
