// RUN: %mille-opt %s --convert-to-kernel --split-input-file --allow-unregistered-dialect --verify-diagnostics

transformer.model @rotate_read_otherwise {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.rotate' op feeds 'transformer.activate' but only an attention's query and key can be rotated}}
    %r = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-note @below {{the value is read here}}
    %y = transformer.activate %r by silu : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @rotated_value {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-error @below {{'transformer.rotate' op feeds 'transformer.attend' but only an attention's query and key can be rotated}}
    %r = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-note @below {{the value is read here}}
    %y = transformer.attend %x, %x, %r heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @rotated_query_only {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %r = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-error @below {{'transformer.attend' op has a rotated query but its key is not rotated}}
    %y = transformer.attend %r, %x, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @rotated_key_only {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %r = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-error @below {{'transformer.attend' op has a rotated key but its query is not rotated}}
    %y = transformer.attend %x, %r, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @different_positions {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-note @below {{the query is rotated here}}
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-note @below {{the key is rotated here}}
    %k = transformer.rotate %x at %other heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-error @below {{'transformer.attend' op has a query and a key with different positions}}
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @different_frequencies {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-note @below {{the query is rotated here}}
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-note @below {{the key is rotated here}}
    %k = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [0.5] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-error @below {{'transformer.attend' op has a query and a key with different frequencies}}
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @different_pairings {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-note @below {{the query is rotated here}}
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-note @below {{the key is rotated here}}
    %k = transformer.rotate %x at %at heads 2 head_dim 2 pairing interleaved frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-error @below {{'transformer.attend' op has a query and a key with different pairings}}
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @different_factors {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    // expected-note @below {{the query is rotated here}}
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-note @below {{the key is rotated here}}
    %k = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] attention_factor 2.0 : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-error @below {{'transformer.attend' op has a query and a key with different attention factors}}
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

transformer.model @head_dims_differ {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 1 head_dim 4 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.rotate %x at %at heads 1 head_dim 4 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    // expected-error @below {{'transformer.attend' op has head_dim 2 but the rotation of its query has 4}}
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

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
