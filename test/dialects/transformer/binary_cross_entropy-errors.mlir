// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @binary_cross_entropy_c1(%x: tensor<2x5x1xf32>, %y: tensor<2x5x1xf32>, %w: tensor<2xf32>) {
  // expected-error @+1 {{weight is [2] but must be [1]}}
  %l, %g = transformer.binary_cross_entropy %x labels %y weight %w : tensor<2x5x1xf32>, tensor<2xf32>
  return
}
