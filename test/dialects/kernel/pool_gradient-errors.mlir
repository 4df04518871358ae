// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @pool_gradient_c1(%g: tensor<?x8xf32>, %i: tensor<?xi32>, %t: index) {
  // expected-error @+1 {{has an index, but also a key_mask or a skip}}
  %0 = kernel.pool_gradient %g index %i : tensor<?xi32> tokens %t skip 1 outs(%g : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_gradient_c1_skip(%g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{skip is -1 but must be >= 0}}
  %0 = kernel.pool_gradient %g tokens %t skip -1 outs(%g : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_gradient_c2(%g: tensor<?x8xf32>, %t: index, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{gradient has 8 columns but outs has 4}}
  %0 = kernel.pool_gradient %g tokens %t skip 0 outs(%o : tensor<?x4xf32>) : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @pool_gradient_c3(%g: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.pool_gradient %g tokens %t skip 0 outs(%g : tensor<?x8xf32>) : tensor<?x8xf32>
  return
}
