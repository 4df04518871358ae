// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @norm_backward_c1(%g: tensor<?x8xf32>, %x: tensor<?x8xf32>, %w: tensor<4xf32>, %y: tensor<?x4xf32>) {
  // expected-error @+1 {{input has 4 columns but gradient has 8}}
  %0 = kernel.norm_backward %g, %y outs(%g : tensor<?x8xf32>) norm <rms, 1.0e-05> : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @norm_backward_c1_weight(%g: tensor<?x8xf32>, %x: tensor<?x8xf32>, %w: tensor<4xf32>, %y: tensor<?x4xf32>) {
  // expected-error @+1 {{weight is 'tensor<4xf32>' but must be f32 [8] or [1, 8]}}
  %0 = kernel.norm_backward %g, %x weight %w : tensor<4xf32> outs(%g : tensor<?x8xf32>) norm <rms, 1.0e-05> : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @norm_backward_c1_outs(%g: tensor<?x8xf32>, %x: tensor<?x8xf32>, %w: tensor<4xf32>, %y: tensor<?x4xf32>) {
  // expected-error @+1 {{has 3 outs but there are one or two: the gradient of the input, and the normed row}}
  %0:3 = kernel.norm_backward %g, %x outs(%g, %g, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) norm <rms, 1.0e-05> : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @norm_backward_c2(%g: tensor<?x8xf32>, %x: tensor<?x8xf32>, %w: tensor<4xf32>, %y: tensor<?x4xf32>) {
  // expected-error @+1 {{norms groups of 3 of 8 columns}}
  %0 = kernel.norm_backward %g, %x outs(%g : tensor<?x8xf32>) norm <rms, 1.0e-05, group = 3> : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @norm_backward_c3(%g: tensor<?x8xf32>, %x: tensor<?x8xf32>, %w: tensor<4xf32>, %y: tensor<?x4xf32>) {
  // expected-error @+1 {{has 0 results but outs are tensors}}
  kernel.norm_backward %g, %x outs(%g : tensor<?x8xf32>) norm <rms, 1.0e-05> : tensor<?x8xf32>, tensor<?x8xf32>
  return
}
