// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @linear_attention_c1(%x: tensor<?x24xf32>, %d: tensor<2xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{kv_heads is 3 but must divide heads, which is 4}}
  %y = kernel.linear_attention %x, %x, %x decay %d : tensor<2xf32> tokens %t outs(%o : tensor<?x8xf32>)
    heads 4 kv_heads 3 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_attention_c1_size(%x: tensor<?x24xf32>, %d: tensor<2xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{head_dim is 0 but must be > 0}}
  %y = kernel.linear_attention %x, %x, %x decay %d : tensor<2xf32> tokens %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 0 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_attention_c2(%x: tensor<?x24xf32>, %d: tensor<2xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{offsets has 2 entries but there are 3: query, key, value}}
  %y = kernel.linear_attention %x, %x, %x decay %d : tensor<2xf32> tokens %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_attention_c2_value(%x: tensor<?x24xf32>, %d: tensor<2xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{value has 24 columns but 2 heads of 4 are read from column 17}}
  %y = kernel.linear_attention %x, %x, %x decay %d : tensor<2xf32> tokens %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 17] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_attention_c2_outs(%x: tensor<?x24xf32>, %d: tensor<2xf32>, %t: index, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{outs has 4 columns but heads is 2 and value_dim is 4}}
  %y = kernel.linear_attention %x, %x, %x decay %d : tensor<2xf32> tokens %t outs(%o : tensor<?x4xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_attention_c3(%x: tensor<?x24xf32>, %d: tensor<4xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{decay is 'tensor<4xf32>' but must be f32 [2]}}
  %y = kernel.linear_attention %x, %x, %x decay %d : tensor<4xf32> tokens %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_attention_c3_key_mask(%x: tensor<?x24xf32>, %d: tensor<2xf32>, %t: index, %o: tensor<?x8xf32>, %m: tensor<?x2xf32>) {
  // expected-error @+1 {{key_mask is 'tensor<?x2xf32>' but must be i32 [?]}}
  %y = kernel.linear_attention %x, %x, %x key_mask %m : tensor<?x2xf32> decay %d : tensor<2xf32> tokens %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_attention_c4(%x: tensor<?x24xf32>, %d: tensor<2xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{scale is inf but must be finite}}
  %y = kernel.linear_attention %x, %x, %x decay %d : tensor<2xf32> tokens %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0x7FF0000000000000
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_attention_c5(%x: tensor<?x24xf32>, %d: tensor<2xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.linear_attention %x, %x, %x decay %d : tensor<2xf32> tokens %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>
  return
}
