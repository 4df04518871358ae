// What no kernel trains is refused by name.
// RUN: %mille-opt %s --convert-to-kernel --split-input-file --verify-diagnostics

transformer.model @experts_from_outside {
  transformer.parameter @w : tensor<2x4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "w", tensor<2x4x4xf32>>
  func.func @train_step(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %e: tensor<?x?xi32> {transformer.name = "e"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{has experts that no transformer.route chose}}
    transformer.weight_gradient %x, %x experts %e : tensor<?x?xi32> weight @w : tensor<?x?x4xf32>, tensor<?x?x4xf32>
    return %x : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @pairs {
  transformer.parameter @rel : tensor<4x2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "rel", tensor<4x2xf32>>
  func.func @train_step(%b: tensor<?x2x3x3xf32> {transformer.name = "b"}) -> (tensor<?x2x3x3xf32> {transformer.name = "y"}) {
    // expected-error @below {{is of a bias by pair, which no kernel trains yet}}
    transformer.bias_gradient %b to @rel index [0, 1, 2, 3, 0, 1, 2, 3, 0] : tensor<?x2x3x3xf32>
    return %b : tensor<?x2x3x3xf32>
  }
}
