// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @spread_c1(%w: tensor<?xf32>, %o: tensor<2xf32>) {
  // expected-error @+1 {{weight is 'tensor<?xf32>' but must be f32 of a fixed shape}}
  %0 = kernel.spread %w from [0, 1] outs(%o : tensor<2xf32>) : tensor<?xf32> -> tensor<2xf32>
  return
}

// -----

func.func @spread_c2(%w: tensor<2xf32>, %o: tensor<4xf32>) {
  // expected-error @+1 {{from has 2 numbers but outs has 4}}
  %0 = kernel.spread %w from [0, 1] outs(%o : tensor<4xf32>) : tensor<2xf32> -> tensor<4xf32>
  return
}

// -----

func.func @spread_c2_number(%w: tensor<2xf32>, %o: tensor<2xf32>) {
  // expected-error @+1 {{from has 2 but weight has 2 numbers}}
  %0 = kernel.spread %w from [0, 2] outs(%o : tensor<2xf32>) : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @spread_c3(%w: tensor<2xf32>, %o: tensor<2xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.spread %w from [0, 1] outs(%o : tensor<2xf32>) : tensor<2xf32>
  return
}
