// RUN: %mille-opt %s --convert-to-kernel --split-input-file --allow-unregistered-dialect --verify-diagnostics

transformer.model @schedule_without_step {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.residual' op has a scheduled scale but 'forward' has no input 'step'}}
    %y = transformer.residual %x skip_scale <scheduled from 0.0 to 1.0 over 10> {
    ^bb0(%u: tensor<?x?x4xf32>):
      transformer.yield %u : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @bias_read_otherwise {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.position_bias' op feeds 'test.reader' but only an attention can add it}}
    %b = transformer.position_bias %at slopes [0.5, 0.25] : tensor<?x?xi32> -> tensor<?x2x?x?xf32>
    // expected-note @below {{the value is read here}}
    %y = "test.reader"(%b) : (tensor<?x2x?x?xf32>) -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @no_kernel {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'test.op' op has no kernel that does it}}
    %y = "test.op"(%x) : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @encoder_plus_decoder {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %z: tensor<?x?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, decoder_tokens, 4>}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.add' op reads rows of batch * tokens and of batch * decoder_tokens}}
    %y = transformer.add %x, %z : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @branch_of_other_rows {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %z: tensor<?x?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, decoder_tokens, 4>}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.residual' op reads rows of batch * tokens and of batch * decoder_tokens}}
    %y = transformer.residual %x {
    ^bb0(%u: tensor<?x?x4xf32>):
      transformer.yield %z : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @table_biases_of_two_sorts {
  transformer.parameter @t : tensor<3x2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<3x2xf32>>
  func.func @forward(%x: tensor<?x2x4xf32> {transformer.name = "x"}) -> (tensor<?x2x4xf32> {transformer.name = "y"}) {
    %a = transformer.distance_bias %x table @t buckets [0, 1, 2] : tensor<?x2x4xf32> -> tensor<?x2x2x2xf32>
    %b = transformer.pair_bias %x table @t index [0, 1, 2, 0] : tensor<?x2x4xf32> -> tensor<?x2x2x2xf32>
    // expected-error @below {{'transformer.attend' op has two biases by tables, one by distance and one by pair, but its kernel adds at most one}}
    %y = transformer.attend %x, %x, %x bias %a, %b : tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask bidirectional : tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32> -> tensor<?x2x4xf32>
    return %y : tensor<?x2x4xf32>
  }
}

// -----

transformer.model @two_slopes {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %a = transformer.position_bias %at slopes [0.5, 0.25] : tensor<?x?xi32> -> tensor<?x2x?x?xf32>
    %b = transformer.position_bias %at slopes [0.5, 0.5] rounding bfloat16 : tensor<?x?xi32> -> tensor<?x2x?x?xf32>
    // expected-error @below {{'transformer.attend' op has two biases by slopes but its kernel adds at most one}}
    %y = transformer.attend %x, %x, %x bias %a, %b : tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @two_biases_of_key_heads {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %s: tensor<?x?x2xf32> {transformer.name = "s"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %a = transformer.key_head_bias %s : tensor<?x?x2xf32> -> tensor<?x2x?x?xf32>
    // expected-error @below {{'transformer.attend' op has two biases by key and head but its kernel adds at most one}}
    %y = transformer.attend %x, %x, %x bias %a, %a : tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @two_content_biases {
  transformer.parameter @t : tensor<3x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<3x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %a = transformer.content_bias %x of_key true table @t factor 0.5 buckets [0, 1, 2] : tensor<?x?x4xf32> -> tensor<?x2x?x?xf32>
    // expected-error @below {{'transformer.attend' op has two biases by the key's content but its kernel adds at most one}}
    %y = transformer.attend %x, %x, %x bias %a, %a : tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @bias_from_outside {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %b: tensor<?x2x?x?xf32> {transformer.name = "b"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.attend' op has a bias that no kernel adds: only what transformer ops of biases make can be one}}
    %y = transformer.attend %x, %x, %x bias %b : tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @windows_of_a_text {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.attend' op has 2 sequences of batch * tokens rows but only fixed tokens are split}}
    %y = transformer.attend %x, %x, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask bidirectional sequences 2 : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @counts_keys_of_chunks {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.attend' op scales by the keys that a query sees and has a chunk, but no kernel counts those}}
    %y = transformer.attend %x, %x, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 length_scale <log_keys, base = 512.0, floor = 16.0> mask causal chunk 2 : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @experts_from_outside {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %e: tensor<?x?x2xi32> {transformer.name = "e"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.dispatch' op has experts that no transformer.route chose}}
    %s = transformer.dispatch %x to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
    %y = transformer.combine %s : tensor<?x?x2x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @rows_not_sent {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %s: tensor<?x?x2x4xf32> {transformer.name = "s"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.combine' op reads rows that no transformer.dispatch sent}}
    %y = transformer.combine %s : tensor<?x?x2x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @rows_of_another_route {
  transformer.parameter @w : tensor<4x4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "w", tensor<4x4x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %e, %w = transformer.route %x k 2 score softmax : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %f, %v = transformer.route %x k 2 score sigmoid : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %s = transformer.dispatch %x to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
    // expected-error @below {{'transformer.linear' op reads rows that were not sent to its experts}}
    %l = transformer.linear %s experts %f : tensor<?x?x2xi32> weight @w : tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
    %y = transformer.combine %l : tensor<?x?x2x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @weights_of_another_route {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %e, %w = transformer.route %x k 2 score softmax : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %f, %v = transformer.route %x k 2 score sigmoid : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %s = transformer.dispatch %x to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
    // expected-error @below {{'transformer.combine' op has weights that are not those of its rows' route}}
    %y = transformer.combine %s times %v : tensor<?x?x2xf32> : tensor<?x?x2x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @slots_of_two_routes {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %e, %w = transformer.route %x k 2 score softmax : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %f, %v = transformer.route %x k 2 score sigmoid : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %s = transformer.dispatch %x to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
    %t = transformer.dispatch %x to %f : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
    // expected-error @below {{'transformer.add' op reads rows of batch * tokens * 2 slots and of batch * tokens * 2 slots by another route}}
    %a = transformer.add %s, %t : tensor<?x?x2x4xf32>
    %y = transformer.combine %a : tensor<?x?x2x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @pixels_read_as_tokens {
  func.func @forward(%x: tensor<?x3x4x4xf32> {transformer.name = "x"}) -> (tensor<?x4x12xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.patches' op reads pixels that 'transformer.activate' reads as tokens}}
    %p = transformer.patches %x kernel [2, 2] stride [2, 2] padding [0, 0] : tensor<?x3x4x4xf32> -> tensor<?x4x12xf32>
    // expected-note @below {{the input is read here}}
    %y = transformer.activate %x by silu : tensor<?x3x4x4xf32>
    return %p : tensor<?x4x12xf32>
  }
}

// -----

transformer.model @sides_read_as_tokens {
  func.func @forward(%x: tensor<?x3x4x4xf32> {transformer.name = "x"}) -> (tensor<?x4x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.patch_rotation' op reads pixels that 'transformer.activate' reads as tokens}}
    %p = transformer.patch_rotation of %x patch [2, 2] theta 1.0 head_dim 4 : tensor<?x3x4x4xf32> -> tensor<?x4x4xf32>
    // expected-note @below {{the input is read here}}
    %y = transformer.activate %x by silu : tensor<?x3x4x4xf32>
    return %p : tensor<?x4x4xf32>
  }
}

// -----

transformer.model @windows_of_other_tokens {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}, %i: tensor<?x2x?x?xf32> {transformer.name = "pixels", transformer.shape = #transformer.shape<batch, 2, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [2, 2], own = [8, 8], prefix = 0, parts = [<tokens = "w", side = [4, 4], each = 4>]>}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.move_patches' op reads rows of batch * tokens but must read those of batch * t}}
    %w = transformer.move_patches %x of %i move into_windows side [2, 2] size 2 shift 1 : tensor<?x?x8xf32>, tensor<?x2x?x?xf32> -> tensor<?x?x8xf32>
    return %w : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @prefix_of_windows {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}, %p: tensor<?xi32> {transformer.name = "prefix"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.attend' op has sequences of 4 tokens and a prefix, which is one's}}
    %a = transformer.attend %x, %x, %x prefix %p : tensor<?xi32> heads 1 kv_heads 1 head_dim 8 value_dim 8 scale 0.5 mask causal sequence_tokens 4
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    return %a : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @no_windows {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.attend' op has sequences of 4 tokens but batch * tokens rows are no whole number of them}}
    %a = transformer.attend %x, %x, %x heads 1 kv_heads 1 head_dim 8 value_dim 8 scale 0.5 mask causal sequence_tokens 4
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    return %a : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @patches_of_a_stream {
  func.func @forward(%x: tensor<?x4x4xf32> {transformer.name = "x"}) -> (tensor<?x2x8xf32> {transformer.name = "y"}) {
    %s = transformer.activate %x by silu : tensor<?x4x4xf32>
    // expected-error @below {{'transformer.patches' op reads what is no input of 'forward' but only an image that is one has pixels}}
    %p = transformer.patches %s kernel [1, 2] stride [1, 2] padding [0, 0] : tensor<?x4x4xf32> -> tensor<?x2x8xf32>
    return %p : tensor<?x2x8xf32>
  }
}

// -----

transformer.model @scaled_similarity {
  func.func @forward(%x: tensor<?x4xf32> {transformer.name = "x"}) -> (tensor<?x?xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.similarity' op feeds 'transformer.activate' but its columns are a run-time size: it can only be an output, perhaps after an affine}}
    %s = transformer.similarity %x, %x : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x?xf32>
    // expected-note @below {{the value is read here}}
    %y = transformer.activate %s by silu : tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  }
}

// -----

transformer.model @experts_as_output {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x2xi32> {transformer.name = "y"}) {
    // expected-note @below {{it comes from here}}
    %e, %w = transformer.route %x k 2 score softmax : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    // expected-error @below {{'func.return' op gives output 0 what no kernel writes}}
    return %e : tensor<?x?x2xi32>
  }
}

// -----

transformer.model @similarity_by_channel {
  transformer.parameter @g : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "g", tensor<4xf32>>
  func.func @forward(%x: tensor<?x4xf32> {transformer.name = "x"}, %step: tensor<1xi32> {transformer.name = "step"}) -> (tensor<?x?xf32> {transformer.name = "y"}) {
    %s = transformer.similarity %x, %x : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x?xf32>
    // expected-error @below {{'transformer.affine' op of a similarity has #transformer.scale<scheduled from 0.0 to 1.0 over 10> but can only have one number}}
    %y = transformer.affine %s scale <scheduled from 0.0 to 1.0 over 10> : tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  }
}

// -----

transformer.model @prefix_of_fixed_windows {
  func.func @forward(%x: tensor<?x4x4xf32> {transformer.name = "x"}, %p: tensor<?xi32> {transformer.name = "prefix"}) -> (tensor<?x4x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.attend' op has 2 sequences and a prefix, which is one's}}
    %a = transformer.attend %x, %x, %x prefix %p : tensor<?xi32> heads 1 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal sequences 2
      : tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32> -> tensor<?x4x4xf32>
    return %a : tensor<?x4x4xf32>
  }
}

// -----

transformer.model @weights_of_another_dispatch {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %e, %w = transformer.route %x k 2 score softmax : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %f, %v = transformer.route %x k 2 score sigmoid : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    // expected-error @below {{'transformer.dispatch' op has weights that are not those of its route}}
    %s = transformer.dispatch %x to %e times %v : tensor<?x?x2xf32> : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
    %y = transformer.combine %s : tensor<?x?x2x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @route_of_other_rows {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %z: tensor<?x?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, decoder_tokens, 4>}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %e, %w = transformer.route %z k 2 score softmax : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    // expected-error @below {{'transformer.dispatch' op sends rows of batch * tokens by a route of batch * decoder_tokens}}
    %s = transformer.dispatch %x to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
    %y = transformer.combine %s : tensor<?x?x2x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @offset_past_the_table {
  transformer.parameter @t : tensor<5x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<5x4xf32>>
  func.func @forward(%i: tensor<?x?xi32> {transformer.name = "ids"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.embed' op has offset 5 but table @t has 5 entries}}
    %y = transformer.embed(%i) tables [@t] offsets [5] : (tensor<?x?xi32>) -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @content_is_not_trained {
  transformer.parameter @t : tensor<3x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<3x4xf32>>
  func.func @train_step(%x: tensor<?x2x4xf32> {transformer.name = "x"}) -> (tensor<?x2x4xf32> {transformer.name = "y"}) {
    %b = transformer.content_bias %x of_key false table @t factor 0.5 buckets [0, 1, 2] : tensor<?x2x4xf32> -> tensor<?x2x2x2xf32>
    // expected-error @below {{has a bias that no kernel trains yet}}
    // expected-note @-2 {{the bias is made here}}
    %q, %k, %v = transformer.attend_gradient %x of %x at %x, %x, %x bias %b : tensor<?x2x2x2xf32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask bidirectional : tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>
    return %q : tensor<?x2x4xf32>
  }
}

// -----

// The queries' rows are a fixed number, which two sequences have; the keys' are not.
transformer.model @keys_of_one_sequence {
  func.func @forward(%x: tensor<?x4x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, 4, 8>}, %z: tensor<?x?x8xf32> {transformer.name = "z"}) -> (tensor<?x4x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, 4, 8>}) {
    // expected-error @below {{'transformer.attend' op has 2 sequences of batch * tokens rows but only fixed tokens are split}}
    %a = transformer.attend %x, %z, %z heads 1 kv_heads 1 head_dim 8 value_dim 8 scale 0.5 mask bidirectional sequences 2
      : tensor<?x4x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x4x8xf32>
    return %a : tensor<?x4x8xf32>
  }
}
