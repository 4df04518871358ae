// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @recall_c1(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index) {
  // expected-error @+1 {{result is 'tensor<?x4xf32>' but the state is 'tensor<2x?x8xf32>'}}
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @recall_c1_type(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index) {
  // expected-error @+1 {{result is 'tensor<?x8xi32>' but the state is 'tensor<2x?x8xf32>'}}
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xi32>
  return
}

// -----

func.func @recall_c2(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index) {
  // expected-error @+1 {{index is 2 but the state has entries 0 to 1}}
  %h = kernel.recall 2 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

// expected-note @+1 {{it comes from here}}
func.func @recall_c3(%keys: tensor<2x?x8xf32>, %rows: index) {
  // expected-error @+1 {{has a state that is no argument with transformer.state}}
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  return
}
