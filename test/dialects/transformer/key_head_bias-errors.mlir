// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @key_head_bias_c1(%x: tensor<?x?x2xf32>) {
  // expected-error @+1 {{input is [?, ?, 2] but result is [?, 3, ?, ?]}}
  %b = transformer.key_head_bias %x : tensor<?x?x2xf32> -> tensor<?x3x?x?xf32>
  return
}

// -----

func.func @key_head_bias_c1_keys(%x: tensor<?x4x2xf32>) {
  // expected-error @+1 {{input is [?, 4, 2] but result is [?, 2, 4, 5]}}
  %b = transformer.key_head_bias %x : tensor<?x4x2xf32> -> tensor<?x2x4x5xf32>
  return
}
