// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @key_head_gradient_c1(%g: tensor<?x4x?x?xf32>) {
  // expected-error @+1 {{gradient is [?, 4, ?, ?] but result is [?, ?, 3]}}
  %x = transformer.key_head_gradient %g : tensor<?x4x?x?xf32> -> tensor<?x?x3xf32>
  return
}
