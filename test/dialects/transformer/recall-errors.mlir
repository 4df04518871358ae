// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @recall_c1(%keys: tensor<2x?x?x8xf32> {transformer.state}) {
  // expected-error @+1 {{result is 'tensor<?x?x4xf32>' but the state is 'tensor<2x?x?x8xf32>'}}
  %k = transformer.recall %keys index 1 : tensor<2x?x?x8xf32> -> tensor<?x?x4xf32>
  return
}

// -----

func.func @recall_c1_ids(%ids: tensor<1x?x?x2xi32> {transformer.state}) {
  // expected-error @+1 {{result is 'tensor<?x?xi32>' but the state is 'tensor<1x?x?x2xi32>'}}
  %k = transformer.recall %ids index 0 : tensor<1x?x?x2xi32> -> tensor<?x?xi32>
  return
}

// -----

func.func @recall_c2(%keys: tensor<2x?x?x8xf32> {transformer.state}) {
  // expected-error @+1 {{index is 2 but the state has entries 0 to 1}}
  %k = transformer.recall %keys index 2 : tensor<2x?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

// expected-note @+1 {{it comes from here}}
func.func @recall_c3(%keys: tensor<2x?x?x8xf32>) {
  // expected-error @+1 {{has a state that is no argument with transformer.state}}
  %k = transformer.recall %keys index 0 : tensor<2x?x?x8xf32> -> tensor<?x?x8xf32>
  return
}
