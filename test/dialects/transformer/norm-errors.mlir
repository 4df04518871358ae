// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @norm_c1_weight {
  // expected-note @+1 {{@w is given here}}
  transformer.parameter @w : tensor<16xf32> = #transformer.stored<"f", "w", tensor<16xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    // expected-error @+1 {{weight @w is [16] but must be [8]}}
    %0 = transformer.norm %x by <rms_norm, eps = 1.0e-5, affine = weight, weight = @w> : tensor<?x?x8xf32>
    return %0 : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @norm_c1_bias {
  transformer.parameter @w : tensor<8xf32> = #transformer.stored<"f", "w", tensor<8xf32>>
  // expected-note @+1 {{@b is given here}}
  transformer.parameter @b : tensor<1x8xf32> = #transformer.stored<"f", "b", tensor<1x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    // expected-error @+1 {{bias @b is [1, 8] but must be [8]}}
    %0 = transformer.norm %x by <layer_norm, eps = 1.0e-5, affine = weight, weight = @w, bias = @b> : tensor<?x?x8xf32>
    return %0 : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @norm_c1_missing {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    // expected-error @+1 {{weight names @w, which is not a parameter}}
    %0 = transformer.norm %x by <rms_norm, eps = 1.0e-5, affine = weight, weight = @w> : tensor<?x?x8xf32>
    return %0 : tensor<?x?x8xf32>
  }
}
