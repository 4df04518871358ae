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
  // expected-error @+1 {{has 2 outs but there are 3: the gradients of key, value and query}}
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
