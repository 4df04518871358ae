// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @attention_c1(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{kv_heads is 3 but must divide heads, which is 4}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 4 kv_heads 3 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c1_size(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{value_dim is 0 but must be > 0}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 0 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{offsets has 2 entries but there are 3: query, key, value}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2_query(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{query has 24 columns but 2 heads of 4 are read from column 20}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [20, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2_key(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{key has 24 columns but 2 heads of 4 are read from column -1}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, -1, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2_value(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x10xf32>) {
  // expected-error @+1 {{value has 24 columns but 2 heads of 5 are read from column 16}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x10xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 5 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x10xf32>
  return
}

// -----

func.func @attention_c2_outs(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{outs has 4 columns but heads is 2 and value_dim is 4}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x4xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @attention_c2_rank(%x: tensor<24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{query is 'tensor<24xf32>' but must be f32, bf16 or f16 [rows, columns]}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<24xf32>, tensor<24xf32>, tensor<24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c3(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %r: tensor<?x3xf32>) {
  // expected-error @+1 {{rotation has 3 columns but must be even and at most head_dim, 4}}
  %y = kernel.attention %x, %x, %x rotation %r : tensor<?x3xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c3_large(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %r: tensor<?x6xf32>) {
  // expected-error @+1 {{rotation has 6 columns but must be even and at most head_dim, 4}}
  %y = kernel.attention %x, %x, %x rotation %r : tensor<?x6xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c4(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{slopes has 1 entries but heads is 2}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false slopes [0.5]
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c6(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{scale is inf but must be finite}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0x7FF0000000000000 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c6_softcap(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{softcap is -1.0 but must be finite and >= 0}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false softcap -1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c7(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>
  return
}

// -----

func.func @attention_c2_overflow(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{query has 24 columns but 2 heads of 4 are read from column 9223372036854775807}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [9223372036854775807, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c3_start(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<?x4xf32>) {
  // expected-error @+1 {{rotation has 4 columns but must be even and at most head_dim, 4, less start, 1}}
  %y = kernel.attention %x, %x, %x rotation %e : tensor<?x4xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false start 1
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c3_start_sign(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<?x2xf32>) {
  // expected-error @+1 {{rotation has 2 columns but must be even and at most head_dim, 4, less start, -2}}
  %y = kernel.attention %x, %x, %x rotation %e : tensor<?x2xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false start -2
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c11_key_mask(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<?xf32>) {
  // expected-error @+1 {{key_mask is 'tensor<?xf32>' but must be i32 [?]}}
  %y = kernel.attention %x, %x, %x key_mask %e : tensor<?xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c5_head_bias(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<?x3xf32>) {
  // expected-error @+1 {{key_head_bias is 'tensor<?x3xf32>' but must be [?, n] where n divides 2 heads}}
  %y = kernel.attention %x, %x, %x key_head_bias %e : tensor<?x3xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c5_query_scale(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<?x2xf32>) {
  // expected-error @+1 {{query_scale is 'tensor<?x2xf32>' but must be f32 [?, 1]}}
  %y = kernel.attention %x, %x, %x query_scale %e : tensor<?x2xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c8(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<4xf32>) {
  // expected-error @+1 {{sink is 'tensor<4xf32>' but must be f32 [2]}}
  %y = kernel.attention %x, %x, %x sink %e : tensor<4xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c8_head_scale(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<4xf32>) {
  // expected-error @+1 {{head_scale is 'tensor<4xf32>' but must be f32 [2] or [1]}}
  %y = kernel.attention %x, %x, %x head_scale %e : tensor<4xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c8_bias(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<1x5xf32>) {
  // expected-error @+1 {{bias is 'tensor<1x5xf32>' but heads is 2}}
  %y = kernel.attention %x, %x, %x bias %e : tensor<1x5xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false bias_by distance
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c8_bias_type(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<2x5xi32>) {
  // expected-error @+1 {{bias is 'tensor<2x5xi32>' but must be f32 [rows, columns]}}
  %y = kernel.attention %x, %x, %x bias %e : tensor<2x5xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false bias_by distance
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c8_bias_odd(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<2x4xf32>) {
  // expected-error @+1 {{bias by distance has 4 columns but must have an odd number}}
  %y = kernel.attention %x, %x, %x bias %e : tensor<2x4xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false bias_by distance
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c9(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{window must be two numbers >= 0, left and right}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false window [4]
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c9_sign(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{window must be two numbers >= 0, left and right}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false window [-4, 0]
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c9_chunk(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{chunk is -8 but must be >= 0}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false chunk -8
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c10(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<2x5xf32>) {
  // expected-error @+1 {{must have both bias and bias_by, or neither}}
  %y = kernel.attention %x, %x, %x bias %e : tensor<2x5xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c10_alone(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{must have both bias and bias_by, or neither}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false bias_by pair
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c11(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<?x8xf32>) {
  // expected-error @+1 {{content_query has 8 columns but must have an odd number for each of 2 heads}}
  %y = kernel.attention %x, %x, %x content_query %e : tensor<?x8xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c11_key(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<?x5xf32>) {
  // expected-error @+1 {{content_key has 5 columns but must have an odd number for each of 2 heads}}
  %y = kernel.attention %x, %x, %x content_key %e : tensor<?x5xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c11_type(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<?x10xi32>) {
  // expected-error @+1 {{content_query is 'tensor<?x10xi32>' but must be f32 [rows, columns]}}
  %y = kernel.attention %x, %x, %x content_query %e : tensor<?x10xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c11_segments(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<?x1xi32>) {
  // expected-error @+1 {{segments is 'tensor<?x1xi32>' but must be i32 [?]}}
  %y = kernel.attention %x, %x, %x segments %e : tensor<?x1xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c11_prefix(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %e: tensor<?xi64>) {
  // expected-error @+1 {{prefix is 'tensor<?xi64>' but must be i32 [?]}}
  %y = kernel.attention %x, %x, %x prefix %e : tensor<?xi64> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c12(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{has past and sees all keys but has a bias, slopes, segments, a window or a chunk}}
  %y = kernel.attention %x, %x, %x past %past : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false window [3, 0]
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c12_prefix(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %past: tensor<?xi32>, %p: tensor<?xi32>) {
  // expected-error @+1 {{has past but has a prefix}}
  %y = kernel.attention %x, %x, %x prefix %p : tensor<?xi32> past %past : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal true
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c13(%x: tensor<?x8xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{has panels but no past}}
  %y = kernel.attention %x, %x, %x queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true panels
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c13_offsets(%x: tensor<?x24xf32>, %t: index, %o: tensor<?x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{has panels but offsets of key and value are 8 and 16}}
  %y = kernel.attention %x, %x, %x past %past : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal true panels
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c13_columns(%x: tensor<?x8xf32>, %k: tensor<?x12xf32>, %t: index, %o: tensor<?x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{key has 12 columns but heads is 2 and head_dim is 4}}
  %y = kernel.attention %x, %k, %x past %past : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true panels
    : tensor<?x8xf32>, tensor<?x12xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c13_rows(%x: tensor<?x8xf32>, %keys: tensor<1x?x8xf32> {transformer.state}, %t: index, %o: tensor<?x8xf32>, %past: tensor<?xi32>) {
  %h = kernel.recall 0 of %keys rows %t : tensor<1x?x8xf32> -> tensor<?x8xf32>
  %k = kernel.remember %x past %past : tensor<?xi32> rows %t outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{has panels but key is remembered otherwise}}
  %y = kernel.attention %x, %k, %x past %past : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true panels
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c14(%x: tensor<?x8xf32>, %k: tensor<?x20xi8>, %v: tensor<?x16xi8>, %t: index, %o: tensor<?x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{key has 20 columns but 2 heads have 8 bytes each}}
  %y = kernel.attention %x, %k, %v past %past : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true panels
    : tensor<?x8xf32>, tensor<?x20xi8>, tensor<?x16xi8> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c14_value(%x: tensor<?x8xf32>, %k: tensor<?x16xi8>, %v: tensor<?x12xi8>, %t: index, %o: tensor<?x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{value has 12 columns but 2 heads have 8 bytes each}}
  %y = kernel.attention %x, %k, %v past %past : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true panels
    : tensor<?x8xf32>, tensor<?x16xi8>, tensor<?x12xi8> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c14_group(%x: tensor<?x12xf32>, %k: tensor<?x20xi8>, %v: tensor<?x16xi8>, %t: index, %o: tensor<?x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{keys in bytes have heads of 6 columns but must have a multiple of 4}}
  %y = kernel.attention %x, %k, %v past %past : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 6 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true panels
    : tensor<?x12xf32>, tensor<?x20xi8>, tensor<?x16xi8> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c14_one(%x: tensor<?x8xf32>, %k: tensor<?x16xi8>, %v: tensor<?x8xf32>, %t: index, %o: tensor<?x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{key is 'tensor<?x16xi8>' but must be f32 or bf16 [rows, columns]}}
  %y = kernel.attention %x, %k, %v past %past : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true panels
    : tensor<?x8xf32>, tensor<?x16xi8>, tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c14_halves(%x: tensor<?x8xf32>, %k: tensor<?x8xf16>, %t: index, %o: tensor<?x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{value is 'tensor<?x8xf32>' but must be f16 [rows, columns]}}
  %y = kernel.attention %x, %k, %x past %past : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true panels
    : tensor<?x8xf32>, tensor<?x8xf16>, tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c14_rows(%x: tensor<?x8xf32>, %k: tensor<?x8xf16>, %t: index, %o: tensor<?x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{key is 'tensor<?x8xf16>' but must be f32 or bf16 [rows, columns]}}
  %y = kernel.attention %x, %k, %k past %past : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x8xf32>, tensor<?x8xf16>, tensor<?x8xf16> -> tensor<?x8xf32>
  return
}
