// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @m {
  transformer.parameter @w : tensor<16x8xf32> = 0.0
  func.func @gradient_c1() {
    // expected-error @+1 {{parameter @w is [16, 8] but must be [8, 16]}}
    %g = kernel.gradient @w -> tensor<8x16xf32>
    return
  }
}

// -----

func.func @gradient_c2() {
  // expected-error @+1 {{is 'tensor<8xbf16>' but gradients are f32, of a parameter's shape}}
  %g = kernel.gradient @w -> tensor<8xbf16>
  return
}
