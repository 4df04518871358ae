// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @affine_c1 {
  // expected-note @+1 {{@b is given here}}
  transformer.parameter @b : tensor<8xf32> = #transformer.stored<"f", "b", tensor<8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{shift @b is [8] but must be [1]}}
    %y = transformer.affine %x shift <learned_scalar @b> : tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @affine_c1_channel {
  // expected-note @+1 {{@g is given here}}
  transformer.parameter @g : tensor<1xf32> = #transformer.stored<"f", "g", tensor<1xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{scale @g is [1] but must be [8]}}
    %y = transformer.affine %x scale <learned_channel @g> : tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @affine_c2 {
  // expected-note @+1 {{@g is given here}}
  transformer.parameter @g : tensor<1xf32> = #transformer.stored<"f", "g", tensor<1xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{scale is constant but @g is not a number of the layer table}}
    %y = transformer.affine %x scale <constant @g> : tensor<?x?x8xf32>
    return
  }
}
