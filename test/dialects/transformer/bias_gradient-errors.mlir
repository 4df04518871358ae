// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @bias_gradient_c1(%b: tensor<?x2x?x?xf32>) {
  // expected-error @+1 {{must have either buckets or index}}
  transformer.bias_gradient %b to @rel : tensor<?x2x?x?xf32>
  return
}

// -----

func.func @bias_gradient_c1_index(%b: tensor<?x2x3x3xf32>) {
  // expected-error @+1 {{index has 2 entries but gradient is [?, 2, 3, 3]}}
  transformer.bias_gradient %b to @rel index [0, 1] : tensor<?x2x3x3xf32>
  return
}

// -----

transformer.model @bias_gradient_c2 {
  transformer.parameter @rel : tensor<3x2xf32> = #transformer.stored<"f", "rel", tensor<3x2xf32>>
  func.func @forward(%b: tensor<?x2x?x?xf32> {transformer.name = "b"}) {
    // expected-error @+1 {{buckets}}
    transformer.bias_gradient %b to @rel buckets [0, 1, 3] : tensor<?x2x?x?xf32>
    return
  }
}
