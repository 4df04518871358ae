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

// -----

transformer.model @norm_c1_group {
  // expected-note @+1 {{@w is given here}}
  transformer.parameter @w : tensor<2xf32> = #transformer.stored<"f", "w", tensor<2xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{weight @w is [2] but must be [4]}}
    %0 = transformer.norm %x by <rms_norm, eps = 1.0e-5, affine = weight, weight = @w, group = 4> : tensor<?x?x8xf32>
    return
  }
}

// -----

// Both are of a group, or both of all channels.
transformer.model @norm_c1_group_bias {
  transformer.parameter @w : tensor<8xf32> = #transformer.stored<"f", "w", tensor<8xf32>>
  // expected-note @+1 {{@b is given here}}
  transformer.parameter @b : tensor<4xf32> = #transformer.stored<"f", "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{bias @b is [4] but must be [8]}}
    %0 = transformer.norm %x by <layer_norm, eps = 1.0e-5, affine = weight, weight = @w, bias = @b, group = 4> : tensor<?x?x8xf32>
    return
  }
}

// -----

func.func @norm_c2(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{norms groups of 3 but input has 8 channels}}
  %0 = transformer.norm %x by <l2_norm, eps = 1.0e-5, group = 3> : tensor<?x?x8xf32>
  return
}

// -----

func.func @norm_c2_unknown(%x: tensor<?x?x?xf32>) {
  // expected-error @+1 {{norms groups of 4 but input has ? channels}}
  %0 = transformer.norm %x by <l2_norm, eps = 1.0e-5, group = 4> : tensor<?x?x?xf32>
  return
}
