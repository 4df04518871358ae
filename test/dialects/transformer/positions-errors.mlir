// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @positions_c1(%past: tensor<3xi32>, %ids: tensor<2x?xi32>) {
  // expected-error @+1 {{past is [3] but must be [2]}}
  %p = transformer.positions %past like %ids : tensor<3xi32>, tensor<2x?xi32> -> tensor<2x?xi32>
  return
}

// -----

func.func @positions_c1_result(%past: tensor<2xi32>, %ids: tensor<2x5xi32>) {
  // expected-error @+1 {{result is [2, 4] but like is [2, 5]}}
  %p = transformer.positions %past like %ids : tensor<2xi32>, tensor<2x5xi32> -> tensor<2x4xi32>
  return
}
