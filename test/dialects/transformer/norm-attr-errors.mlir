// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @norm_attr_c1(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{eps is -1.0 but must be finite and >= 0}}
  %0 = transformer.norm %x by <l2_norm, eps = -1.0> : tensor<?x8xf32>
  return
}

// -----

func.func @norm_attr_c1_infinite(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{eps is inf but must be finite and >= 0}}
  %0 = transformer.norm %x by <l2_norm, eps = 0x7FF0000000000000> : tensor<?x8xf32>
  return
}

// -----

func.func @norm_attr_c1_zero(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{eps is 0.0 but must be > 0 for rms_norm}}
  %0 = transformer.norm %x by <rms_norm, affine = weight, weight = @w> : tensor<?x8xf32>
  return
}

// -----

func.func @norm_attr_c2_weight(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{weight is @w but affine is none}}
  %0 = transformer.norm %x by <rms_norm, eps = 1.0e-6, weight = @w> : tensor<?x8xf32>
  return
}

// -----

func.func @norm_attr_c2_affine(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{affine is one_plus_weight but no weight is named}}
  %0 = transformer.norm %x by <rms_norm, eps = 1.0e-6, affine = one_plus_weight> : tensor<?x8xf32>
  return
}

// -----

func.func @norm_attr_c3_weight(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{identity norm has weight @w but takes neither weight nor bias}}
  %0 = transformer.norm %x by <identity, affine = weight, weight = @w> : tensor<?x8xf32>
  return
}

// -----

func.func @norm_attr_c3_bias(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{identity norm has bias @b but takes neither weight nor bias}}
  %0 = transformer.norm %x by <identity, bias = @b> : tensor<?x8xf32>
  return
}

// -----

func.func @norm_attr_unknown_key(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{unknown struct parameter name: epsilon}}
  %0 = transformer.norm %x by <rms_norm, epsilon = 1.0> : tensor<?x8xf32>
  return
}

// -----

func.func @norm_attr_unknown_word(%x: tensor<?x8xf32>) {
  // expected-error @+2 {{expected one of [layer_norm, rms_norm, l2_norm, identity] for how a row is normed, got: batch_norm}}
  // expected-error @+1 {{parameter 'kind'}}
  %0 = transformer.norm %x by <batch_norm> : tensor<?x8xf32>
  return
}

// -----

func.func @norm_attr_c4(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{group is -4 but must be >= 0}}
  %0 = transformer.norm %x by <rms_norm, eps = 1.0e-6, group = -4> : tensor<?x8xf32>
  return
}
