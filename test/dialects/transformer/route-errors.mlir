// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @route_c1(%l: tensor<?x?x8xf32>) {
  // expected-error @+1 {{k is 9 but there are 8 experts}}
  %e, %w = transformer.route %l k 9 score softmax : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
  return
}

// -----

func.func @route_c1_sign(%l: tensor<?x?x8xf32>) {
  // expected-error @+1 {{k is 0 but there are 8 experts}}
  %e, %w = transformer.route %l k 0 score softmax : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
  return
}

// -----

func.func @route_c1_unknown(%l: tensor<?x?x?xf32>) {
  // expected-error @+1 {{k is 2 but there are ? experts}}
  %e, %w = transformer.route %l k 2 score softmax : tensor<?x?x?xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
  return
}

// -----

func.func @route_c1_groups(%l: tensor<?x?x8xf32>) {
  // expected-error @+1 {{groups is 3 but must divide the 8 experts}}
  %e, %w = transformer.route %l k 2 score sigmoid groups 3 : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
  return
}

// -----

func.func @route_c1_groups_sign(%l: tensor<?x?x8xf32>) {
  // expected-error @+1 {{groups is 0 but must divide the 8 experts}}
  %e, %w = transformer.route %l k 2 score sigmoid groups 0 : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
  return
}

// -----

func.func @route_c1_top_groups(%l: tensor<?x?x8xf32>) {
  // expected-error @+1 {{top_groups is 5 of 4 groups, but k is 2 of 8 experts}}
  %e, %w = transformer.route %l k 2 score sigmoid groups 4 top_groups 5 : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
  return
}

// -----

func.func @route_c1_too_few(%l: tensor<?x?x8xf32>) {
  // expected-error @+1 {{top_groups is 1 of 4 groups, but k is 3 of 8 experts}}
  %e, %w = transformer.route %l k 3 score sigmoid groups 4 top_groups 1 : tensor<?x?x8xf32> -> tensor<?x?x3xi32>, tensor<?x?x3xf32>
  return
}

// -----

func.func @route_c2(%l: tensor<?x?x8xf32>) {
  // expected-error @+1 {{experts is [?, ?, 3] but must be [?, ?, 2]}}
  %e, %w = transformer.route %l k 2 score softmax : tensor<?x?x8xf32> -> tensor<?x?x3xi32>, tensor<?x?x2xf32>
  return
}

// -----

func.func @route_c2_fixed(%l: tensor<?x?x8xf32>) {
  // expected-error @+1 {{experts is [?, ?, ?] but must be [?, ?, 2]}}
  %e, %w = transformer.route %l k 2 score softmax : tensor<?x?x8xf32> -> tensor<?x?x?xi32>, tensor<?x?x2xf32>
  return
}

// -----

func.func @route_c2_weights(%l: tensor<?x5x8xf32>) {
  // expected-error @+1 {{weights is [?, 4, 2] but must be [?, 5, 2]}}
  %e, %w = transformer.route %l k 2 score softmax : tensor<?x5x8xf32> -> tensor<?x5x2xi32>, tensor<?x4x2xf32>
  return
}

// -----

transformer.model @route_c3 {
  // expected-note @+1 {{@b is given here}}
  transformer.parameter @b : tensor<4xf32> = #transformer.stored<"f", "b", tensor<4xf32>>
  func.func @forward(%l: tensor<?x?x8xf32> {transformer.name = "l"}) {
    // expected-error @+1 {{selection_bias @b is [4] but must be [8]}}
    %e, %w = transformer.route %l k 2 score sigmoid selection_bias @b : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    return
  }
}

// -----

func.func @route_c4(%l: tensor<?x?x8xf32>) {
  // expected-error @+1 {{epsilon is -1.0 but must be finite and >= 0}}
  %e, %w = transformer.route %l k 2 score softmax epsilon -1.0 : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
  return
}

// -----

func.func @route_c4_factor(%l: tensor<?x?x8xf32>) {
  // expected-error @+1 {{factor is inf but must be finite}}
  %e, %w = transformer.route %l k 2 score softmax factor 0x7FF0000000000000 : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
  return
}
