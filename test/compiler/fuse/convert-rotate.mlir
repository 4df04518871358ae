// RUN: %mille-opt %s --convert-to-kernel --split-input-file | FileCheck %s
// RUN: %mille-opt %s --convert-to-kernel --split-input-file > %t.once
// RUN: %mille-opt %s --convert-to-kernel --convert-to-kernel --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// Alike in every respect: in the attention, and made once.
// CHECK-LABEL: transformer.model @alike
// CHECK: %[[R:.*]] = kernel.rotation %{{.*}} frequencies [1.0] factor 2.000000e+00 long <after = 8, frequencies = [0.5]>
// CHECK-NOT: kernel.rotate
// CHECK: kernel.attention %[[X:.*]], %[[X]], %[[X]] rotation %[[R]] : tensor<?x2xf32>
transformer.model @alike {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] long <after = 8, frequencies = [0.5]> attention_factor 2.0 : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] long <after = 8, frequencies = [0.5]> attention_factor 2.0 : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Only one of them is turned: a kernel of its own.
// CHECK-LABEL: transformer.model @keep_as_query_only
// CHECK: kernel.rotate
// CHECK-NOT: rotation %
// CHECK: kernel.attention
transformer.model @keep_as_query_only {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.activate %x by silu : tensor<?x?x4xf32>
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Likewise for the key.
// CHECK-LABEL: transformer.model @keep_as_key_only
// CHECK: kernel.rotate
// CHECK-NOT: rotation %
// CHECK: kernel.attention
transformer.model @keep_as_key_only {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.activate %x by silu : tensor<?x?x4xf32>
    %k = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Different positions.
// CHECK-LABEL: transformer.model @keep_as_positions_differ
// CHECK: kernel.rotate
// CHECK: kernel.rotate
// CHECK-NOT: rotation %
// CHECK: kernel.attention
transformer.model @keep_as_positions_differ {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.rotate %x at %other heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Different frequencies.
// CHECK-LABEL: transformer.model @keep_as_frequencies_differ
// CHECK: kernel.rotate
// CHECK: kernel.rotate
// CHECK-NOT: rotation %
// CHECK: kernel.attention
transformer.model @keep_as_frequencies_differ {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [0.5] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Different pairings.
// CHECK-LABEL: transformer.model @keep_as_pairings_differ
// CHECK: kernel.rotate
// CHECK: kernel.rotate
// CHECK-NOT: rotation %
// CHECK: kernel.attention
transformer.model @keep_as_pairings_differ {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.rotate %x at %at heads 2 head_dim 2 pairing interleaved frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Different factors.
// CHECK-LABEL: transformer.model @keep_as_factors_differ
// CHECK: kernel.rotate
// CHECK: kernel.rotate
// CHECK-NOT: rotation %
// CHECK: kernel.attention
transformer.model @keep_as_factors_differ {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.rotate %x at %at heads 2 head_dim 2 pairing half frequencies [1.0] attention_factor 2.0 : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Not by the heads of the attention.
// CHECK-LABEL: transformer.model @keep_as_heads_differ
// CHECK: kernel.rotate
// CHECK: kernel.rotate
// CHECK-NOT: rotation %
// CHECK: kernel.attention
transformer.model @keep_as_heads_differ {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 1 head_dim 4 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.rotate %x at %at heads 1 head_dim 4 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Different dimensions.
// CHECK-LABEL: transformer.model @keep_as_starts_differ
// CHECK: kernel.rotate
// CHECK: kernel.rotate
// CHECK-NOT: rotation %
// CHECK: kernel.attention
transformer.model @keep_as_starts_differ {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 1 head_dim 4 start 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.rotate %x at %at heads 1 head_dim 4 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// The value is turned, or something else reads the turned key: neither is in the
// attention, and then nor is the other that goes with it.
// CHECK-LABEL: transformer.model @keep_as_value
// CHECK: %[[R:.*]] = kernel.rotation
// CHECK: %[[Q:.*]] = kernel.rotate %[[X:.*]] by %[[R]] outs({{.*}}) heads 2 head_dim 2 pairing interleaved start 0
// CHECK: %[[K:.*]] = kernel.rotate %[[X]] by %[[R]]
// CHECK: kernel.attention %[[Q]], %[[K]], %[[K]] queries
transformer.model @keep_as_value {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}, %other: tensor<?x?xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing interleaved frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.rotate %x at %at heads 2 head_dim 2 pairing interleaved frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %q, %k, %k heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// A table gives the cosines and sines: its rows by position, once.
// CHECK-LABEL: transformer.model @table
// CHECK: %[[T:.*]] = kernel.weight #transformer.times<@table, 2.000000e+00 : f64> -> tensor<8x2xf32>
// CHECK: %[[R:.*]] = kernel.rows ins(%[[T]] : tensor<8x2xf32>) indices(%[[AT:[^ ]*]] : tensor<?xi32>) outs(%{{.*}} : tensor<?x2xf32>) gather [0]
// CHECK-NOT: gather
// CHECK: kernel.attention {{.*}} rotation %[[R]] : tensor<?x2xf32>
transformer.model @table {
  transformer.parameter @table : tensor<8x2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "table", tensor<8x2xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 2 head_dim 2 pairing half table @table attention_factor 2.0 : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.rotate %x at %at heads 2 head_dim 2 pairing half table @table attention_factor 2.0 : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %q, %k, %x heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Some dimensions from `start` on, in the prologue too.
// CHECK-LABEL: transformer.model @start
// CHECK: kernel.attention {{.*}} rotation %{{.*}} pairing interleaved start 2
transformer.model @start {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %q = transformer.rotate %x at %at heads 1 head_dim 4 start 2 pairing interleaved frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %k = transformer.rotate %x at %at heads 1 head_dim 4 start 2 pairing interleaved frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %q, %k, %x heads 1 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}
