// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @shares_gradient_c1_logits(%g: tensor<?x8xf32>, %l: tensor<4xf32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{logits is 'tensor<4xf32>' but must be f32 [rows, columns]}}
  %0 = kernel.shares_gradient %g at %l outs(%o : tensor<?x4xf32>) : tensor<?x8xf32>, tensor<4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @shares_gradient_c1_gradient(%g: tensor<?x4xf32>, %l: tensor<?x4xf32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{gradient has 4 columns but there are 4 experts}}
  %0 = kernel.shares_gradient %g at %l outs(%o : tensor<?x4xf32>) : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @shares_gradient_c1_outs(%g: tensor<?x8xf32>, %l: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs has 8 columns but must have 4}}
  %0 = kernel.shares_gradient %g at %l outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @shares_gradient_c2(%g: tensor<?x8xf32>, %l: tensor<?x4xf32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.shares_gradient %g at %l outs(%o : tensor<?x4xf32>) : tensor<?x8xf32>, tensor<?x4xf32>
  return
}
