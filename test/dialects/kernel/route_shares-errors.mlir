// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @route_shares_c1_logits(%l: tensor<4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{logits is 'tensor<4xf32>' but must be f32 [rows, columns]}}
  %0 = kernel.route_shares %l place %p : tensor<?xi32> starts %s : tensor<5xi32> k 2 outs(%o : tensor<?x8xf32>) : tensor<4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @route_shares_c1_place(%l: tensor<?x4xf32>, %p: tensor<?x2xi32>, %s: tensor<5xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{place is 'tensor<?x2xi32>' but must be i32 [?]}}
  %0 = kernel.route_shares %l place %p : tensor<?x2xi32> starts %s : tensor<5xi32> k 2 outs(%o : tensor<?x8xf32>) : tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @route_shares_c1_starts(%l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<4xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{starts is 'tensor<4xi32>' but there are 4 experts}}
  %0 = kernel.route_shares %l place %p : tensor<?xi32> starts %s : tensor<4xi32> k 2 outs(%o : tensor<?x8xf32>) : tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @route_shares_c1_outs(%l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{outs has 4 columns but must have 8}}
  %0 = kernel.route_shares %l place %p : tensor<?xi32> starts %s : tensor<5xi32> k 2 outs(%o : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @route_shares_c1_k(%l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{k is 5 but there are 4 experts}}
  %0 = kernel.route_shares %l place %p : tensor<?xi32> starts %s : tensor<5xi32> k 5 outs(%o : tensor<?x8xf32>) : tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @route_shares_c2(%l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.route_shares %l place %p : tensor<?xi32> starts %s : tensor<5xi32> k 2 outs(%o : tensor<?x8xf32>) : tensor<?x4xf32>
  return
}
