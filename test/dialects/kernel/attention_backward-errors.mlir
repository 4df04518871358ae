// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @attention_backward_c1(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{kv_heads is 3 but must divide heads, which is 2}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 3 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c2(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{outs has 8 columns but must have 4}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c2_outs(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{has 2 outs but there are 3: the gradients of key and value, of biases and sink if there are these, and of query}}
  %0:2 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t outs(%g, %g : tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c3(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{softcap is -1.0 but must be finite and >= 0}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false softcap -1.0 : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c3_window(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{window must be two numbers >= 0, left and right}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false window [1] : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c3_scale(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{scale is inf but must be finite}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0x7FF0000000000000 causal false : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c4(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{has 0 results but outs are tensors}}
  kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>
  return
}

// -----

func.func @attention_backward_c2_bias(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %b: tensor<2x5xf32>, %t: index) {
  // expected-error @+1 {{has 3 outs but there are 4}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> bias %b : tensor<2x5xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false bias_by distance : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c3_chunk(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{chunk is -1 but must be >= 0}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false chunk -1 : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c3_segments(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %m: tensor<?xf32>, %t: index) {
  // expected-error @+1 {{segments is 'tensor<?xf32>' but must be i32 [?]}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> segments %m : tensor<?xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c6_heads(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %b: tensor<3x5xf32>, %t: index) {
  // expected-error @+1 {{bias is 'tensor<3x5xf32>' but heads is 2}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> bias %b : tensor<3x5xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false bias_by distance : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c5_even(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %b: tensor<2x4xf32>, %t: index) {
  // expected-error @+1 {{bias by distance has 4 columns but must have an odd number}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> bias %b : tensor<2x4xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false bias_by distance : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c5_slopes(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{slopes has 1 entries but heads is 2}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false slopes [0.5] : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c5_sink(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %s: tensor<3xf32>, %t: index) {
  // expected-error @+1 {{sink is 'tensor<3xf32>'}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> sink %s : tensor<3xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c5_key_head_bias(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %b: tensor<?x3xf32>, %t: index) {
  // expected-error @+1 {{key_head_bias is 'tensor<?x3xf32>' but must be [?, n] where n divides 2 heads}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> key_head_bias %b : tensor<?x3xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c6(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %b: tensor<2x4xf32>, %t: index) {
  // expected-error @+1 {{must have both bias and bias_by, or neither}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> bias %b : tensor<2x4xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c6_pairs(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %b: tensor<2x5xf32>, %t: index) {
  // expected-error @+1 {{bias by pair has 5 columns but must have a square of the keys}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> bias %b : tensor<2x5xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false bias_by pair : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c6_key_head(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{has key_head_gradient but no key_head_bias}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false key_head_gradient : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_backward_c2_elements(%x: tensor<?x24xbf16>, %g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{gradient has elements of 'f32' but query of 'bf16'}}
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false : tensor<?x24xbf16>, tensor<?x24xbf16>, tensor<?x24xbf16> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}
