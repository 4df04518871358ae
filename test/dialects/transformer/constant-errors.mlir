// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @constant_c1 {
  // expected-note @+1 {{@probe is given here}}
  transformer.parameter @probe : tensor<2x8xf32> = #transformer.stored<"f", "probe", tensor<2x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{value @probe is [2, 8] but must be [1, 8]}}
    %p = transformer.constant @probe for %x : tensor<?x?x8xf32> -> tensor<?x1x8xf32>
    return
  }
}

// -----

transformer.model @constant_c1_rank {
  transformer.parameter @probe : tensor<2x8xf32> = #transformer.stored<"f", "probe", tensor<2x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{result is [?, 8] but must be [batch, n, channels]}}
    %p = transformer.constant @probe for %x : tensor<?x?x8xf32> -> tensor<?x8xf32>
    return
  }
}

// -----

transformer.model @constant_c1_name {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{value names @probe, which is not a parameter}}
    %p = transformer.constant @probe for %x : tensor<?x?x8xf32> -> tensor<?x1x8xf32>
    return
  }
}
