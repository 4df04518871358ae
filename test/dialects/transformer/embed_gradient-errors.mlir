// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @embed_gradient_c1(%g: tensor<2x5x8xf32>, %i: tensor<2x5xi32>) {
  // expected-error @+1 {{offsets has 2 entries but there are 1 ids}}
  transformer.embed_gradient %g to (%i) tables [@t] offsets [0, 1] : tensor<2x5x8xf32>, (tensor<2x5xi32>)
  return
}

// -----

transformer.model @embed_gradient_c2 {
  // expected-note @+1 {{@t is given here}}
  transformer.parameter @t : tensor<11x4xf32> = #transformer.stored<"f", "t", tensor<11x4xf32>>
  func.func @forward(%g: tensor<?x?x8xf32> {transformer.name = "g"}, %i: tensor<?x?xi32> {transformer.name = "i"}) {
    // expected-error @+1 {{table @t is [11, 4] but must be [?, 8]}}
    transformer.embed_gradient %g to (%i) tables [@t] offsets [0] : tensor<?x?x8xf32>, (tensor<?x?xi32>)
    return
  }
}

// -----

func.func @embed_gradient_c3(%g: tensor<2x5x8xf32>, %i: tensor<2x4xi32>) {
  // expected-error @+1 {{ids is [2, 4] but result is [2, 5, 8]}}
  transformer.embed_gradient %g to (%i) tables [@t] offsets [0] : tensor<2x5x8xf32>, (tensor<2x4xi32>)
  return
}

// -----

func.func @embed_gradient_c4(%g: tensor<2x5x8xf32>, %i: tensor<2x5xi32>) {
  // expected-error @+1 {{scale is nan but must be finite}}
  transformer.embed_gradient %g to (%i) tables [@t] offsets [0] scale 0x7FF8000000000000 : tensor<2x5x8xf32>, (tensor<2x5xi32>)
  return
}
