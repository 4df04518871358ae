// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @pool_gradient_c1(%g: tensor<?x4xf32>, %x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{input is [?, ?, 8] but result is [?, 4]}}
  %y = transformer.pool_gradient %g like %x by first : tensor<?x4xf32>, tensor<?x?x8xf32>
  return
}

// -----

func.func @pool_gradient_c2(%g: tensor<2x8xf32>, %x: tensor<2x5x8xf32>, %m: tensor<2x4xi32>) {
  // expected-error @+1 {{key_mask is [2, 4] but input is [2, 5, 8]}}
  %y = transformer.pool_gradient %g like %x key_mask %m : tensor<2x4xi32> by mean : tensor<2x8xf32>, tensor<2x5x8xf32>
  return
}

// -----

func.func @pool_gradient_c3(%g: tensor<2x8xf32>, %x: tensor<2x5x8xf32>) {
  // expected-error @+1 {{pools by highest_id but has no ids}}
  %y = transformer.pool_gradient %g like %x by highest_id : tensor<2x8xf32>, tensor<2x5x8xf32>
  return
}

// -----

func.func @pool_gradient_c4(%g: tensor<2x8xf32>, %x: tensor<2x5x8xf32>) {
  // expected-error @+1 {{skip is 5 but there are 5 tokens}}
  %y = transformer.pool_gradient %g like %x by mean skip 5 : tensor<2x8xf32>, tensor<2x5x8xf32>
  return
}
