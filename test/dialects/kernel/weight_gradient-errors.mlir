// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @weight_gradient_c1(%g: tensor<?x16xf32>, %x: tensor<?x8xf32>, %w: tensor<8x8xf32>) {
  // expected-error @+1 {{outs is 'tensor<8x8xf32>' but must be f32 [16, 8]}}
  %0 = kernel.weight_gradient %g, %x outs(%w : tensor<8x8xf32>) : tensor<?x16xf32>, tensor<?x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @weight_gradient_c1_gradient(%g: tensor<16xf32>, %x: tensor<?x8xf32>, %w: tensor<16x8xf32>) {
  // expected-error @+1 {{gradient is 'tensor<16xf32>' but must be f32 or bf16 [rows, columns]}}
  %0 = kernel.weight_gradient %g, %x outs(%w : tensor<16x8xf32>) : tensor<16xf32>, tensor<?x8xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @weight_gradient_c1_type(%g: tensor<?x16xbf16>, %x: tensor<?x8xf32>, %w: tensor<16x8xf32>) {
  // expected-error @+1 {{input is 'tensor<?x8xf32>' but gradient is 'tensor<?x16xbf16>'}}
  %0 = kernel.weight_gradient %g, %x outs(%w : tensor<16x8xf32>) : tensor<?x16xbf16>, tensor<?x8xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @weight_gradient_c2(%g: tensor<?x16xf32>, %x: tensor<?x8xf32>, %w: tensor<16x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.weight_gradient %g, %x outs(%w : tensor<16x8xf32>) : tensor<?x16xf32>, tensor<?x8xf32>
  return
}
