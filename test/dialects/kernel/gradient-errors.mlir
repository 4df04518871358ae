// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @m {
  // expected-note @+1 {{@w is given here}}
  transformer.parameter @w : tensor<16x8xf32> = #transformer.stored<"w", "w", tensor<16x8xf32>>
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
