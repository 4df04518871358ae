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

// -----

func.func @weight_gradient_c3(%g: tensor<?x16xf32>, %x: tensor<?x8xf32>, %s: tensor<5xi32>, %w: tensor<16x8xf32>) {
  // expected-error @+1 {{outs is 'tensor<16x8xf32>' but must be f32 [4, 16, 8]}}
  %0 = kernel.weight_gradient %g, %x starts %s : tensor<5xi32> outs(%w : tensor<16x8xf32>) : tensor<?x16xf32>, tensor<?x8xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @weight_gradient_c3_starts(%g: tensor<?x16xf32>, %x: tensor<?x8xf32>, %s: tensor<?xi32>, %w: tensor<4x16x8xf32>) {
  // expected-error @+1 {{starts is 'tensor<?xi32>' but must be i32 [entries + 1]}}
  %0 = kernel.weight_gradient %g, %x starts %s : tensor<?xi32> outs(%w : tensor<4x16x8xf32>) : tensor<?x16xf32>, tensor<?x8xf32> -> tensor<4x16x8xf32>
  return
}
