// What no kernel trains is refused by name.
// RUN: %mille-opt %s --convert-to-kernel --split-input-file --verify-diagnostics

transformer.model @sums_of_a_number {
  transformer.parameter @g : tensor<1xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "g", tensor<1xf32>>
  func.func @train_step(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{sums 4 columns but the gradient of @g is 'tensor<1xf32>', which no kernel trains yet}}
    transformer.scale_gradient %x to @g : tensor<?x?x4xf32>
    return %x : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @one_plus_weight {
  transformer.parameter @n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "n", tensor<4xf32>>
  func.func @train_step(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{is of #transformer.norm<rms_norm, eps = 1.0e-05, affine = one_plus_weight, weight = @n>, which no kernel trains yet}}
    %g = transformer.norm_gradient %x at %x by <rms_norm, eps = 1.0e-5, affine = one_plus_weight, weight = @n> : tensor<?x?x4xf32>
    return %x : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @norm_of_heads {
  transformer.parameter @n : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "n", tensor<2xf32>>
  func.func @train_step(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{repeats @n, which no kernel trains yet}}
    %g = transformer.norm_gradient %x at %x by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n, group = 2> : tensor<?x?x4xf32>
    return %x : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @experts {
  transformer.parameter @w : tensor<2x4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "w", tensor<2x4x4xf32>>
  func.func @train_step(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %e: tensor<?x?xi32> {transformer.name = "e"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{is of experts, which no kernel trains yet}}
    transformer.weight_gradient %x, %x experts %e : tensor<?x?xi32> weight @w : tensor<?x?x4xf32>, tensor<?x?x4xf32>
    return %x : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @part_of_a_table {
  transformer.parameter @t : tensor<9x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<9x4xf32>>
  func.func @train_step(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %i: tensor<?x?xi32> {transformer.name = "i"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{has offset 2, but no kernel trains a part of a table yet}}
    transformer.embed_gradient %x to (%i) tables [@t] offsets [2] : tensor<?x?x4xf32>, (tensor<?x?xi32>)
    return %x : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @chunk {
  func.func @train_step(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{has a chunk, which no kernel trains yet}}
    %q, %k, %v = transformer.attend_gradient %x of %x at %x, %x, %x heads 1 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal chunk 2
      : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
    return %x : tensor<?x?x4xf32>
  }
}
