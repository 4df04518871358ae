// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @reverse_tokens_c1(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{input is [?, 8] but must be [batch, tokens, channels]}}
  %0 = transformer.reverse_tokens %x : tensor<?x8xf32>
  return
}

// -----

func.func @reverse_tokens_c1_mask(%x: tensor<2x5x8xf32>, %m: tensor<2x4xi32>) {
  // expected-error @+1 {{key_mask is [2, 4] but input is [2, 5, 8]}}
  %0 = transformer.reverse_tokens %x key_mask %m : tensor<2x4xi32> : tensor<2x5x8xf32>
  return
}
