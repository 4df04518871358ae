// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @attend_gradient_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{kv_heads is 3 but must divide heads, which is 2}}
  %q, %k, %v = transformer.attend_gradient %x of %x at %x, %x, %x heads 2 kv_heads 3 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_gradient_c1_output(%x: tensor<?x?x8xf32>, %o: tensor<?x?x6xf32>) {
  // expected-error @+1 {{result has 6 channels but heads is 2 and value_dim is 4}}
  %q, %k, %v = transformer.attend_gradient %o of %o at %x, %x, %x heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x6xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_gradient_c2(%x: tensor<?x?x8xf32>, %b: tensor<?x2x?x?xf32>) {
  // expected-error @+1 {{has 2 results for biases but bias_gradients has 1 numbers}}
  %q, %k, %v, %g:2 = transformer.attend_gradient %x of %x at %x, %x, %x bias %b : tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5 mask causal bias_gradients [0] -> tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32>
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_gradient_c2_number(%x: tensor<?x?x8xf32>, %b: tensor<?x2x?x?xf32>) {
  // expected-error @+1 {{bias_gradients has 1 after -1 but there are 1 biases}}
  %q, %k, %v, %g = transformer.attend_gradient %x of %x at %x, %x, %x bias %b : tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5 mask causal bias_gradients [1] -> tensor<?x2x?x?xf32>
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
  return
}

// -----

func.func @attend_gradient_c2_type(%x: tensor<?x?x8xf32>, %b: tensor<?x2x?x?xf32>) {
  // expected-error @+1 {{result for a bias is [?, 1, ?, ?] but bias is [?, 2, ?, ?]}}
  %q, %k, %v, %g = transformer.attend_gradient %x of %x at %x, %x, %x bias %b : tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5 mask causal bias_gradients [0] -> tensor<?x1x?x?xf32>
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
  return
}
