// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @shares_gradient_c1(%g: tensor<2x5x4xf32>, %l: tensor<2x5x4xf32>) {
  // expected-error @+1 {{gradient is [2, 5, 4] but logits is [2, 5, 4]}}
  %0 = transformer.shares_gradient %g at %l : tensor<2x5x4xf32>, tensor<2x5x4xf32>
  return
}
