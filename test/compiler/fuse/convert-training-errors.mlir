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

transformer.model @prefix {
  func.func @train_step(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %p: tensor<?xi32> {transformer.name = "p"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{has a prefix, which no kernel trains yet}}
    %q, %k, %v = transformer.attend_gradient %x of %x at %x, %x, %x prefix %p : tensor<?xi32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
    return %q : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @no_norm {
  func.func @train_step(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{, which no kernel trains yet}}
    %0 = transformer.norm_gradient %x at %x by <identity, eps = 0.0> : tensor<?x?x4xf32>
    return %0 : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @ids_of_other_rows {
  transformer.parameter @t : tensor<11x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<11x4xf32>>
  func.func @train_step(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %ids: tensor<?x?xi32> {transformer.name = "ids", transformer.shape = #transformer.shape<batch, decoder_tokens>}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.embed_gradient' op reads rows of batch * tokens and of batch * decoder_tokens}}
    transformer.embed_gradient %x to(%ids) tables [@t] offsets [0] : tensor<?x?x4xf32>, (tensor<?x?xi32>)
    return %x : tensor<?x?x4xf32>
  }
}
