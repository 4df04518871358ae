// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @slot_products_c1(%s: tensor<2x5x2x8xf32>, %x: tensor<2x4x8xf32>) {
  // expected-error @+1 {{slots is [2, 5, 2, 8] but row is [2, 4, 8] and result is [2, 5, 2]}}
  %0 = transformer.slot_products %s, %x : tensor<2x5x2x8xf32>, tensor<2x4x8xf32> -> tensor<2x5x2xf32>
  return
}

// -----

func.func @slot_products_c1_result(%s: tensor<2x4x2x8xf32>, %x: tensor<2x4x8xf32>) {
  // expected-error @+1 {{slots is [2, 4, 2, 8] but row is [2, 4, 8] and result is [2, 4, 3]}}
  %0 = transformer.slot_products %s, %x : tensor<2x4x2x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x3xf32>
  return
}
