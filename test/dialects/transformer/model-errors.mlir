// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{has no func.func}}
transformer.model @model_c1 {
  transformer.parameter @a : tensor<1xf32> = #transformer.stored<"f", "a", tensor<1xf32>>
}

// -----

transformer.model @model_c1_declared {
  // expected-error @+1 {{has 0 blocks but an entry has one}}
  func.func private @forward(tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"})
}

// -----

transformer.model @model_c2 {
  // expected-error @+1 {{input 0 has no transformer.name}}
  func.func @forward(%x: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    return %x : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @model_c2_size {
  // expected-error @+1 {{argument 1 is 'index' but no kernel.size}}
  func.func @forward(%batch: index {kernel.size = "batch"}, %n: index, %x: tensor<?x8xf32> {transformer.name = "x"}) {
    return
  }
}

// -----

transformer.model @model_c2_output {
  // expected-error @+1 {{output 0 has no transformer.name}}
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> tensor<?x?x8xf32> {
    return %x : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @model_c2_twice {
  // expected-error @+1 {{two inputs are named "x"}}
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}, %y: tensor<?x?x8xf32> {transformer.name = "x"}) {
    return
  }
}

// -----

transformer.model @model_c3_unit {
  transformer.parameter @a : tensor<1xf32> = #transformer.stored<"f", "a", tensor<1xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    // expected-note @+1 {{@a is read here first}}
    %0 = transformer.residual %x skip_scale <learned_scalar @a> layer 0 {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    // expected-error @+1 {{scale @a is shared by one unit but read by another unit too}}
    %1 = transformer.residual %0 skip_scale <learned_scalar @a> layer 0 {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %1 : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @model_c3_layer {
  transformer.parameter @a : tensor<1xf32> = #transformer.stored<"f", "a", tensor<1xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    // expected-note @+1 {{@a is read here first}}
    %0 = transformer.residual %x skip_scale <learned_scalar @a, share = layer> layer 0 {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    // expected-error @+1 {{scale @a is shared by one layer but read by another layer too}}
    %1 = transformer.residual %0 skip_scale <learned_scalar @a, share = layer> layer 1 {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %1 : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @model_c3_table {
  transformer.parameter @a : tensor<1xf32> = #transformer.stored<"f", "a", tensor<1xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %y = transformer.layers %x slots [["layers.*.a"]] bodies [0, 0] table [[@a], [@a]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      // expected-note @+2 {{@a is read here first}}
      // expected-error @+1 {{scale @a is shared by one unit but read by another unit too}}
      %0 = transformer.residual %s skip_scale <learned_scalar @"layers.*.a"> {
      ^bb0(%u: tensor<?x?x8xf32>):
        transformer.yield %u : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      transformer.yield %0 : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}

// -----

// Said once: the verifier runs again after each pass.
transformer.model @model_c4 {
  transformer.parameter @w : tensor<4x8xf32> = #transformer.stored<"f", "w", tensor<4x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %0 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-6>] {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    // expected-warning @+1 {{a pre-norm stack ends here without a norm}}
    %1 = transformer.residual %0 {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %2 = transformer.linear %1 weight @w : tensor<?x?x8xf32> -> tensor<?x?x4xf32>
    return %2 : tensor<?x?x4xf32>
  }
}

// -----

// No warning: a norm closes the stack, or the last unit's own does.
transformer.model @model_c4_closed {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}, tensor<?x?x8xf32> {transformer.name = "z"}) {
    %0 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-6>] {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %1 = transformer.norm %0 by <rms_norm, eps = 1.0e-6> : tensor<?x?x8xf32>
    %2 = transformer.residual %0 out_norm <rms_norm, eps = 1.0e-6> {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %1, %2 : tensor<?x?x8xf32>, tensor<?x?x8xf32>
  }
}

// -----

// No warning: the sum is one output, and normed, pooled, another.
transformer.model @model_c4_pooled {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}, tensor<?x8xf32> {transformer.name = "z"}) {
    %0 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-6>] {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %1 = transformer.pool %0 by first : tensor<?x?x8xf32> -> tensor<?x8xf32>
    %2 = transformer.norm %1 by <rms_norm, eps = 1.0e-6> : tensor<?x8xf32>
    return %0, %2 : tensor<?x?x8xf32>, tensor<?x8xf32>
  }
}

// -----

transformer.model @model_c5 {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value leads back to the parameter itself}}
  transformer.parameter @q : tensor<8xf32> = #transformer.times<@p, 2.0>
  // expected-note @+1 {{through this parameter}}
  transformer.parameter @p : tensor<8xf32> = #transformer.plus<@q, 1.0>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @model_c6 {
  func.func @forward() {
    // expected-error @+1 {{reads "x", which was not made before}}
    %0 = transformer.saved "x" : tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @model_c6_type {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    transformer.save %x as "x" : tensor<?x?x8xf32>
    // expected-error @+1 {{reads "x" as 'tensor<?x?x4xf32>' but it was made as 'tensor<?x?x8xf32>'}}
    %0 = transformer.saved "x" : tensor<?x?x4xf32>
    return
  }
}
