// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @combine_c1(%x: tensor<?x8xf32>, %p: tensor<?xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{outs has 4 columns but must have 8}}
  %y = kernel.combine %x place %p : tensor<?xi32> outs(%o : tensor<?x4xf32>) k 2 : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @combine_c1_input(%x: tensor<8xf32>, %p: tensor<?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{input is 'tensor<8xf32>' but must be f32 [rows, columns]}}
  %y = kernel.combine %x place %p : tensor<?xi32> outs(%o : tensor<?x8xf32>) k 2 : tensor<8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @combine_c1_place(%x: tensor<?x8xf32>, %p: tensor<?xi64>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{place is 'tensor<?xi64>' but must be i32 [?]}}
  %y = kernel.combine %x place %p : tensor<?xi64> outs(%o : tensor<?x8xf32>) k 2 : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @combine_c2(%x: tensor<?x8xf32>, %p: tensor<?xi32>, %w: tensor<?x3xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{weights is 'tensor<?x3xf32>' but must be f32 [?, 2]}}
  %y = kernel.combine %x place %p : tensor<?xi32> times %w : tensor<?x3xf32> outs(%o : tensor<?x8xf32>) k 2 : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @combine_c2_k(%x: tensor<?x8xf32>, %p: tensor<?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{k is 0 but must be > 0}}
  %y = kernel.combine %x place %p : tensor<?xi32> outs(%o : tensor<?x8xf32>) k 0 : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @combine_c3(%x: tensor<?x8xf32>, %p: tensor<?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.combine %x place %p : tensor<?xi32> outs(%o : tensor<?x8xf32>) k 2 : tensor<?x8xf32>
  return
}
