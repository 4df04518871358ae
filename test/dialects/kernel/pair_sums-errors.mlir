// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @pair_sums_c1(%g: tensor<?x8xf32>, %w: tensor<2x4xf32>) {
  // expected-error @+1 {{index has 3 numbers but must have one for each pair of tokens}}
  %t = kernel.pair_sums %g index [0, 1, 1] outs(%w : tensor<2x4xf32>) : tensor<?x8xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @pair_sums_c1_none(%g: tensor<?x8xf32>, %w: tensor<2x4xf32>) {
  // expected-error @+1 {{index has 0 numbers but must have one for each pair of tokens}}
  %t = kernel.pair_sums %g index [] outs(%w : tensor<2x4xf32>) : tensor<?x8xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @pair_sums_c1_row(%g: tensor<?x8xf32>, %w: tensor<2x4xf32>) {
  // expected-error @+1 {{index has 2 but outs has 2 rows}}
  %t = kernel.pair_sums %g index [0, 1, 2, 0] outs(%w : tensor<2x4xf32>) : tensor<?x8xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @pair_sums_c1_sign(%g: tensor<?x8xf32>, %w: tensor<2x4xf32>) {
  // expected-error @+1 {{index has -1 but outs has 2 rows}}
  %t = kernel.pair_sums %g index [0, 1, -1, 0] outs(%w : tensor<2x4xf32>) : tensor<?x8xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @pair_sums_c1_outs(%g: tensor<?x8xf32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{outs is 'tensor<8xf32>' but must be f32 [entries, heads]}}
  %t = kernel.pair_sums %g index [0, 1, 1, 0] outs(%w : tensor<8xf32>) : tensor<?x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @pair_sums_c2(%g: tensor<?x8xf32>, %w: tensor<2x2xf32>) {
  // expected-error @+1 {{gradient has 8 columns but there are 2 tokens and 2 heads}}
  %t = kernel.pair_sums %g index [0, 1, 1, 0] outs(%w : tensor<2x2xf32>) : tensor<?x8xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @pair_sums_c3(%g: tensor<?x8xf32>, %w: tensor<2x4xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.pair_sums %g index [0, 1, 1, 0] outs(%w : tensor<2x4xf32>) : tensor<?x8xf32>
  return
}
