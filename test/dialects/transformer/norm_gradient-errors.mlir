// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @norm_gradient_c1 {
  // expected-note @+1 {{@n is given here}}
  transformer.parameter @n : tensor<4xf32> = #transformer.stored<"f", "n", tensor<4xf32>>
  func.func @forward(%g: tensor<?x?x8xf32> {transformer.name = "g"}) {
    // expected-error @+1 {{weight @n is [4] but must be [8]}}
    %y = transformer.norm_gradient %g at %g by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n> : tensor<?x?x8xf32>
    return
  }
}

// -----

func.func @norm_gradient_c2(%g: tensor<?x?x8xf32>) {
  // expected-error @+1 {{norms groups of 3 but input has 8 channels}}
  %y = transformer.norm_gradient %g at %g by <rms_norm, eps = 1.0e-5, group = 3> : tensor<?x?x8xf32>
  return
}
