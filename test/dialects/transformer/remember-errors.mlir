// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @remember_c1(%k: tensor<?x?x4xf32>, %keys: tensor<2x?x?x8xf32> {transformer.state}, %past: tensor<?xi32>) {
  // expected-error @+1 {{state is 'tensor<2x?x?x8xf32>' but input is 'tensor<?x?x4xf32>'}}
  %all = transformer.remember %k in %keys index 1 past %past : tensor<?x?x4xf32>, tensor<2x?x?x8xf32>, tensor<?xi32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @remember_c1_rank(%k: tensor<?x?x8xf32>, %keys: tensor<2x?x8xf32> {transformer.state}, %past: tensor<?xi32>) {
  // expected-error @+1 {{state is 'tensor<2x?x8xf32>' but input is 'tensor<?x?x8xf32>'}}
  %all = transformer.remember %k in %keys index 1 past %past : tensor<?x?x8xf32>, tensor<2x?x8xf32>, tensor<?xi32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @remember_c1_ids(%k: tensor<?x?xi32>, %keys: tensor<1x?x?x2xi32> {transformer.state}, %past: tensor<?xi32>) {
  // expected-error @+1 {{state is 'tensor<1x?x?x2xi32>' but input is 'tensor<?x?xi32>'}}
  %all = transformer.remember %k in %keys index 0 past %past : tensor<?x?xi32>, tensor<1x?x?x2xi32>, tensor<?xi32> -> tensor<?x?xi32>
  return
}

// -----

func.func @remember_c1_result(%k: tensor<?x?x8xf32>, %keys: tensor<2x?x?x8xf32> {transformer.state}, %past: tensor<?xi32>) {
  // expected-error @+1 {{result is 'tensor<?x?x4xf32>' but the state is 'tensor<2x?x?x8xf32>'}}
  %all = transformer.remember %k in %keys index 1 past %past : tensor<?x?x8xf32>, tensor<2x?x?x8xf32>, tensor<?xi32> -> tensor<?x?x4xf32>
  return
}

// -----

func.func @remember_c2(%k: tensor<?x?x8xf32>, %keys: tensor<2x?x?x8xf32> {transformer.state}, %past: tensor<?xi32>) {
  // expected-error @+1 {{index is 2 but the state has entries 0 to 1}}
  %all = transformer.remember %k in %keys index 2 past %past : tensor<?x?x8xf32>, tensor<2x?x?x8xf32>, tensor<?xi32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @remember_c2_negative(%k: tensor<?x?x8xf32>, %keys: tensor<2x?x?x8xf32> {transformer.state}, %past: tensor<?xi32>) {
  // expected-error @+1 {{index is -1 but the state has entries 0 to 1}}
  %all = transformer.remember %k in %keys index -1 past %past : tensor<?x?x8xf32>, tensor<2x?x?x8xf32>, tensor<?xi32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @remember_c3(%k: tensor<2x?x8xf32>, %keys: tensor<2x2x?x8xf32> {transformer.state}, %past: tensor<3xi32>) {
  // expected-error @+1 {{past is [3] but must be [2]}}
  %all = transformer.remember %k in %keys index 0 past %past : tensor<2x?x8xf32>, tensor<2x2x?x8xf32>, tensor<3xi32> -> tensor<2x?x8xf32>
  return
}

// -----

// expected-note @+1 {{it comes from here}}
func.func @remember_c4(%k: tensor<?x?x8xf32>, %keys: tensor<2x?x?x8xf32>, %past: tensor<?xi32>) {
  // expected-error @+1 {{has a state that is no argument with transformer.state}}
  %all = transformer.remember %k in %keys index 0 past %past : tensor<?x?x8xf32>, tensor<2x?x?x8xf32>, tensor<?xi32> -> tensor<?x?x8xf32>
  return
}
