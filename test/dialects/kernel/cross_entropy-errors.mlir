// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @cross_entropy_c1(%z: tensor<?x8xf32>, %y: tensor<?xi32>, %t: tensor<2xf32>, %u: tensor<1xf32>, %l: tensor<?x1xf32>) {
  // expected-error @+1 {{times is 'tensor<2xf32>' but must be f32 [1]}}
  %0:2 = kernel.cross_entropy %z labels %y : tensor<?xi32> times %t : tensor<2xf32> losses(%l : tensor<?x1xf32>) gradient(%z : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @cross_entropy_c2(%z: tensor<?x8xf32>, %y: tensor<?xi32>, %t: tensor<2xf32>, %u: tensor<1xf32>, %l: tensor<?x1xf32>) {
  // expected-error @+1 {{smoothing is 1.0 but must be >= 0 and < 1}}
  %0:2 = kernel.cross_entropy %z labels %y : tensor<?xi32> times %u : tensor<1xf32> losses(%l : tensor<?x1xf32>) gradient(%z : tensor<?x8xf32>) smoothing 1.0 : tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @cross_entropy_c3(%z: tensor<?x8xf32>, %y: tensor<?xi32>, %u: tensor<1xf32>, %l: tensor<?x1xf32>) {
  // expected-error @+1 {{has 0 results but outs are tensors}}
  kernel.cross_entropy %z labels %y : tensor<?xi32> times %u : tensor<1xf32> losses(%l : tensor<?x1xf32>) gradient(%z : tensor<?x8xf32>) : tensor<?x8xf32>
  return
}
