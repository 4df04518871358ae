// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @route_gradient_c1_gradient(%g: tensor<2xf32>, %l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{gradient is 'tensor<2xf32>' but must be f32 [rows, columns]}}
  %0 = kernel.route_gradient %g at %l place %p : tensor<?xi32> starts %s : tensor<5xi32> outs(%o : tensor<?x4xf32>)
    score softmax renormalised true softmax_chosen false epsilon 0.0 factor 1.0 : tensor<2xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @route_gradient_c1_logits(%g: tensor<?x2xf32>, %l: tensor<4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{logits is 'tensor<4xf32>' but must be f32 [rows, columns]}}
  %0 = kernel.route_gradient %g at %l place %p : tensor<?xi32> starts %s : tensor<5xi32> outs(%o : tensor<?x4xf32>)
    score softmax renormalised true softmax_chosen false epsilon 0.0 factor 1.0 : tensor<?x2xf32>, tensor<4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @route_gradient_c1_starts(%g: tensor<?x2xf32>, %l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<4xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{starts is 'tensor<4xi32>' but there are 4 experts}}
  %0 = kernel.route_gradient %g at %l place %p : tensor<?xi32> starts %s : tensor<4xi32> outs(%o : tensor<?x4xf32>)
    score softmax renormalised true softmax_chosen false epsilon 0.0 factor 1.0 : tensor<?x2xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @route_gradient_c1_place(%g: tensor<?x2xf32>, %l: tensor<?x4xf32>, %p: tensor<?x2xi32>, %s: tensor<5xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{place is 'tensor<?x2xi32>' but must be i32 [?]}}
  %0 = kernel.route_gradient %g at %l place %p : tensor<?x2xi32> starts %s : tensor<5xi32> outs(%o : tensor<?x4xf32>)
    score softmax renormalised true softmax_chosen false epsilon 0.0 factor 1.0 : tensor<?x2xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @route_gradient_c1_outs(%g: tensor<?x2xf32>, %l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x5xf32>) {
  // expected-error @+1 {{outs has 5 columns but must have 4}}
  %0 = kernel.route_gradient %g at %l place %p : tensor<?xi32> starts %s : tensor<5xi32> outs(%o : tensor<?x5xf32>)
    score softmax renormalised true softmax_chosen false epsilon 0.0 factor 1.0 : tensor<?x2xf32>, tensor<?x4xf32> -> tensor<?x5xf32>
  return
}

// -----

func.func @route_gradient_c1_k(%g: tensor<?x5xf32>, %l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{gradient has 5 columns but there are 4 experts}}
  %0 = kernel.route_gradient %g at %l place %p : tensor<?xi32> starts %s : tensor<5xi32> outs(%o : tensor<?x4xf32>)
    score softmax renormalised true softmax_chosen false epsilon 0.0 factor 1.0 : tensor<?x5xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @route_gradient_c2_epsilon(%g: tensor<?x2xf32>, %l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{epsilon is -1.0 but must be finite and >= 0}}
  %0 = kernel.route_gradient %g at %l place %p : tensor<?xi32> starts %s : tensor<5xi32> outs(%o : tensor<?x4xf32>)
    score softmax renormalised true softmax_chosen false epsilon -1.0 factor 1.0 : tensor<?x2xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @route_gradient_c2_factor(%g: tensor<?x2xf32>, %l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{factor is inf but must be finite}}
  %0 = kernel.route_gradient %g at %l place %p : tensor<?xi32> starts %s : tensor<5xi32> outs(%o : tensor<?x4xf32>)
    score softmax renormalised true softmax_chosen false epsilon 0.0 factor 0x7FF0000000000000 : tensor<?x2xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @route_gradient_c3(%g: tensor<?x2xf32>, %l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.route_gradient %g at %l place %p : tensor<?xi32> starts %s : tensor<5xi32> outs(%o : tensor<?x4xf32>)
    score softmax renormalised true softmax_chosen false epsilon 0.0 factor 1.0 : tensor<?x2xf32>, tensor<?x4xf32>
  return
}
