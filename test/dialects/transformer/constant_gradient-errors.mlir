// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @constant_gradient_c1 {
  // expected-note @+1 {{@probe is given here}}
  transformer.parameter @probe : tensor<2x8xf32> = #transformer.stored<"f", "probe", tensor<2x8xf32>>
  func.func @forward(%c: tensor<?x1x8xf32> {transformer.name = "c"}) {
    // expected-error @+1 {{value @probe is [2, 8] but must be [1, 8]}}
    transformer.constant_gradient %c to @probe : tensor<?x1x8xf32>
    return
  }
}
