// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @cross_entropy_c1(%z: tensor<2x5x8xf32>, %y: tensor<2x4xi32>, %w: tensor<1xf32>) {
  // expected-error @+1 {{labels is [2, 4] but logits is [2, 5, 8]}}
  %l, %g = transformer.cross_entropy %z labels %y weight %w
    : tensor<2x5x8xf32>, tensor<2x4xi32>, tensor<1xf32> -> tensor<2x5xf32>
  return
}

// -----

func.func @cross_entropy_c1_losses(%z: tensor<2x5x8xf32>, %y: tensor<2x5xi32>, %w: tensor<1xf32>) {
  // expected-error @+1 {{losses is [2, 4] but logits is [2, 5, 8]}}
  %l, %g = transformer.cross_entropy %z labels %y weight %w
    : tensor<2x5x8xf32>, tensor<2x5xi32>, tensor<1xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @cross_entropy_c2(%z: tensor<2x5x8xf32>, %y: tensor<2x5xi32>, %w: tensor<2xf32>) {
  // expected-error @+1 {{weight is [2] but must be [1]}}
  %l, %g = transformer.cross_entropy %z labels %y weight %w
    : tensor<2x5x8xf32>, tensor<2x5xi32>, tensor<2xf32> -> tensor<2x5xf32>
  return
}

// -----

func.func @cross_entropy_c3(%z: tensor<2x5x8xf32>, %y: tensor<2x5xi32>, %w: tensor<1xf32>) {
  // expected-error @+1 {{smoothing is 1.0 but must be at least 0 and below 1}}
  %l, %g = transformer.cross_entropy %z labels %y weight %w smoothing 1.0
    : tensor<2x5x8xf32>, tensor<2x5xi32>, tensor<1xf32> -> tensor<2x5xf32>
  return
}

// -----

func.func @cross_entropy_c3_ignore(%z: tensor<2x5x8xf32>, %y: tensor<2x5xi32>, %w: tensor<1xf32>) {
  // expected-error @+1 {{ignore is 0 but must be < 0}}
  %l, %g = transformer.cross_entropy %z labels %y weight %w ignore 0
    : tensor<2x5x8xf32>, tensor<2x5xi32>, tensor<1xf32> -> tensor<2x5xf32>
  return
}
