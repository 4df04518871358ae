// An encoder and a decoder that attends to it in every layer; rows that go to two
// of four experts each; patches of an image; their similarity over the batch.
transformer.model @two {
  transformer.parameter @w : tensor<8x8xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.4, cut = 0.0, seed = 1, stream = "w", tensor<8x8xf32>>
  transformer.parameter @v : tensor<8x8xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.4, cut = 0.0, seed = 1, stream = "v", tensor<8x8xf32>>
  transformer.parameter @router : tensor<4x8xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, cut = 0.0, seed = 1, stream = "r", tensor<4x8xf32>>
  transformer.parameter @experts : tensor<4x8x8xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.4, cut = 0.0, seed = 1, stream = "e", tensor<4x8x8xf32>>
  transformer.parameter @biases : tensor<4x8xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.4, cut = 0.0, seed = 1, stream = "b", tensor<4x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"},
      %d: tensor<?x?x8xf32> {transformer.name = "decoder_x", transformer.shape = #transformer.shape<batch, decoder_tokens, 8>},
      %m: tensor<?x?x8xf32> {transformer.name = "mixed_x"},
      %i: tensor<?x2x4x4xf32> {transformer.name = "pixels"})
      -> (tensor<?x?x8xf32> {transformer.name = "decoded"}, tensor<?x?x8xf32> {transformer.name = "mixed"},
          tensor<?x5x8xf32> {transformer.name = "patches"}, tensor<?x?xf32> {transformer.name = "similarity"}) {
    %e = transformer.layers %x slots [["w"]] bodies [0, 0] table [[@w], [@v]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %0 = transformer.residual %s {
      ^bb0(%u: tensor<?x?x8xf32>):
        %1 = transformer.linear %u weight @w : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
        transformer.yield %1 : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      transformer.yield %0 : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %y = transformer.layers %d slots [["w"]] bodies [0, 0, 0] table [[@w], [@v], [@w]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %0 = transformer.residual %s {
      ^bb0(%u: tensor<?x?x8xf32>):
        %1 = transformer.linear %u weight @w : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
        %2 = transformer.linear %e weight @w : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
        %3 = transformer.attend %1, %2, %2 heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5 mask bidirectional
          : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
        transformer.yield %3 : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      transformer.yield %0 : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %l = transformer.linear %m weight @router : tensor<?x?x8xf32> -> tensor<?x?x4xf32>
    %c, %r = transformer.route %l k 2 score softmax : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %a = transformer.dispatch %m to %c : tensor<?x?x8xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x8xf32>
    %b = transformer.linear %a experts %c : tensor<?x?x2xi32> weight @experts bias @biases : tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
    %f = transformer.combine %b times %r : tensor<?x?x2xf32> : tensor<?x?x2x8xf32> -> tensor<?x?x8xf32>
    %p = transformer.patches %i kernel [2, 2] stride [2, 2] padding [0, 0] prefix 1 : tensor<?x2x4x4xf32> -> tensor<?x5x8xf32>
    %q = transformer.linear %p weight @w : tensor<?x5x8xf32> -> tensor<?x5x8xf32>
    transformer.keep %p as "image.hidden_states" index 0 : tensor<?x5x8xf32>
    transformer.keep %q as "image.hidden_states" index 1 : tensor<?x5x8xf32>
    %t = transformer.pool %q by mean skip 1 : tensor<?x5x8xf32> -> tensor<?x8xf32>
    %h = transformer.pool %q by first skip 2 : tensor<?x5x8xf32> -> tensor<?x8xf32>
    %k = transformer.similarity %t, %h : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x?xf32>
    return %y, %f, %q, %k : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x5x8xf32>, tensor<?x?xf32>
  }
}
