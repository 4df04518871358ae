// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @route_shares_c1(%l: tensor<2x5x4xf32>, %e: tensor<2x4x2xi32>) {
  // expected-error @+1 {{experts is [2, 4, 2] but logits is [2, 5, 4]}}
  %0 = transformer.route_shares %l to %e : tensor<2x5x4xf32>, tensor<2x4x2xi32> -> tensor<2x5x8xf32>
  return
}

// -----

func.func @route_shares_c1_k(%l: tensor<2x5x4xf32>, %e: tensor<2x5x?xi32>) {
  // expected-error @+1 {{experts is [2, 5, ?] but logits is [2, 5, 4]}}
  %0 = transformer.route_shares %l to %e : tensor<2x5x4xf32>, tensor<2x5x?xi32> -> tensor<2x5x8xf32>
  return
}

// -----

func.func @route_shares_c2(%l: tensor<2x5x4xf32>, %e: tensor<2x5x2xi32>) {
  // expected-error @+1 {{result is [2, 5, 4] but logits is [2, 5, 4]}}
  %0 = transformer.route_shares %l to %e : tensor<2x5x4xf32>, tensor<2x5x2xi32> -> tensor<2x5x4xf32>
  return
}
