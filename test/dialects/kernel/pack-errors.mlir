// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @pack_c1(%w: tensor<16x8xf32>, %o: tensor<16x8xf32>) {
  // expected-error @+1 {{outs is 'tensor<16x8xf32>' but must be f32 or bf16 [8, 16], or panels of it}}
  %0 = kernel.pack %w transposed outs(%o : tensor<16x8xf32>) : tensor<16x8xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @pack_c1_panels(%w: tensor<64x8xf32>, %o: tensor<1x8x48xf32>) {
  // expected-error @+1 {{outs is 'tensor<1x8x48xf32>' but must be f32 or bf16 [64, 8], or panels of it}}
  %0 = kernel.pack %w outs(%o : tensor<1x8x48xf32>) : tensor<64x8xf32> -> tensor<1x8x48xf32>
  return
}

// -----

func.func @pack_c1_pairs(%w: tensor<64x8xf32>, %o: tensor<1x8x64xbf16>) {
  // expected-error @+1 {{outs is 'tensor<1x8x64xbf16>' but must be f32 or bf16 [64, 8], or panels of it}}
  %0 = kernel.pack %w outs(%o : tensor<1x8x64xbf16>) : tensor<64x8xf32> -> tensor<1x8x64xbf16>
  return
}

// -----

func.func @pack_c1_rows(%w: tensor<?x8xf32>, %o: tensor<8x8xf32>) {
  // expected-error @+1 {{weight is 'tensor<?x8xf32>' but must be f32 [N, K] of known sizes}}
  %0 = kernel.pack %w outs(%o : tensor<8x8xf32>) : tensor<?x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @pack_c2(%w: tensor<16x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.pack %w outs(%w : tensor<16x8xf32>) : tensor<16x8xf32>
  return
}

// -----

func.func @pack_c3_weight(%w: tensor<3x16x8xf32>, %s: tensor<5xi32>, %o: tensor<4x16x8xf32>) {
  // expected-error @+1 {{weight is 'tensor<3x16x8xf32>' but must be f32 [4, N, K] of known sizes}}
  %0 = kernel.pack %w starts %s : tensor<5xi32> outs(%o : tensor<4x16x8xf32>) : tensor<3x16x8xf32> -> tensor<4x16x8xf32>
  return
}

// -----

func.func @pack_c3_out(%w: tensor<4x16x8xf32>, %s: tensor<5xi32>, %o: tensor<3x16x8xf32>) {
  // expected-error @+1 {{outs is 'tensor<3x16x8xf32>' but must be f32 or bf16 [4, 16, 8], or panels of it}}
  %0 = kernel.pack %w starts %s : tensor<5xi32> outs(%o : tensor<3x16x8xf32>) : tensor<4x16x8xf32> -> tensor<3x16x8xf32>
  return
}

// -----

func.func @pack_c3_starts(%w: tensor<4x16x8xf32>, %s: tensor<5xi64>, %o: tensor<4x16x8xf32>) {
  // expected-error @+1 {{starts is 'tensor<5xi64>' but must be i32 [entries + 1]}}
  %0 = kernel.pack %w starts %s : tensor<5xi64> outs(%o : tensor<4x16x8xf32>) : tensor<4x16x8xf32> -> tensor<4x16x8xf32>
  return
}
