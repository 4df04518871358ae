// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @route_gradient_c1(%w: tensor<2x5x2xf32>, %l: tensor<2x5x4xf32>, %e: tensor<2x4x2xi32>) {
  // expected-error @+1 {{experts is [2, 4, 2] but logits is [2, 5, 4]}}
  %0 = transformer.route_gradient %w at %l to %e score softmax : tensor<2x5x2xf32>, tensor<2x5x4xf32>, tensor<2x4x2xi32>
  return
}

// -----

func.func @route_gradient_c2(%w: tensor<2x5x2xf32>, %l: tensor<2x5x4xf32>, %e: tensor<2x5x2xi32>) {
  // expected-error @+1 {{factor is inf but must be finite}}
  %0 = transformer.route_gradient %w at %l to %e score softmax factor 0x7FF0000000000000 : tensor<2x5x2xf32>, tensor<2x5x4xf32>, tensor<2x5x2xi32>
  return
}

// -----

func.func @route_gradient_c2_epsilon(%w: tensor<2x5x2xf32>, %l: tensor<2x5x4xf32>, %e: tensor<2x5x2xi32>) {
  // expected-error @+1 {{epsilon is inf but must be finite}}
  %0 = transformer.route_gradient %w at %l to %e score softmax epsilon 0x7FF0000000000000 : tensor<2x5x2xf32>, tensor<2x5x4xf32>, tensor<2x5x2xi32>
  return
}
