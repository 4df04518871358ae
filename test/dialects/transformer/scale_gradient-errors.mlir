// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @scale_gradient_c1 {
  // expected-note @+1 {{@s is given here}}
  transformer.parameter @s : tensor<2xf32> = #transformer.stored<"f", "s", tensor<2xf32>>
  func.func @forward(%g: tensor<?x?x8xf32> {transformer.name = "g"}) {
    // expected-error @+1 {{scale @s is [2] but must be [8]}}
    transformer.scale_gradient %g times %g to @s : tensor<?x?x8xf32>
    return
  }
}
