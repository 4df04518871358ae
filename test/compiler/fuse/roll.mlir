// RUN: %mille-opt %s --roll --split-input-file | FileCheck %s
// RUN: %mille-opt %s --roll --split-input-file > %t.once
// RUN: %mille-opt %s --roll --roll --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// Differing symbols and constants become columns, equal ones stay; the number
// in `layer` goes.
// CHECK-LABEL: transformer.model @equal_layers
// CHECK: transformer.layers %{{.*}} slots {{\[\[}}"layers.*.w", "layers.*.skip_scale"]] bodies [0, 0, 0]
// CHECK-SAME: table {{\[\[}}@layers.0.w, 1.000000e+00], [@layers.1.w, 1.400000e+00], [@layers.2.w, 2.200000e+00]]
// CHECK: ^bb0(%[[S:.*]]: tensor<?x?x4xf32>):
// CHECK: transformer.residual %[[S]] skip_scale <constant @"layers.*.skip_scale"> branch_scale [#transformer.scale<constant 0.5>] {
// CHECK: transformer.linear %{{.*}} weight @"layers.*.w" bias @shared
// CHECK-NOT: transformer.residual
// CHECK: return
transformer.model @equal_layers {
  transformer.parameter @shared : tensor<4xf32> = #transformer.drawn<fixed, mean = 0.0, std = 0.0, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @layers.0.w : tensor<4x4xf32> = #transformer.drawn<fixed, mean = 1.0, std = 0.0, seed = 1, stream = "0", tensor<4x4xf32>>
  transformer.parameter @layers.1.w : tensor<4x4xf32> = #transformer.drawn<fixed, mean = 2.0, std = 0.0, seed = 1, stream = "1", tensor<4x4xf32>>
  transformer.parameter @layers.2.w : tensor<4x4xf32> = #transformer.drawn<fixed, mean = 3.0, std = 0.0, seed = 1, stream = "2", tensor<4x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %0 = transformer.residual %x skip_scale <constant 1.0> branch_scale [#transformer.scale<constant 0.5>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %a = transformer.linear %u weight @layers.0.w bias @shared : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %1 = transformer.residual %0 skip_scale <constant 1.4> branch_scale [#transformer.scale<constant 0.5>] layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %a = transformer.linear %u weight @layers.1.w bias @shared : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 skip_scale <constant 2.2> branch_scale [#transformer.scale<constant 0.5>] layer 2 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %a = transformer.linear %u weight @layers.2.w bias @shared : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %2 : tensor<?x?x4xf32>
  }
}

// -----

// Any pattern: layers 0 and 2 are one body, 1 another. A layer that uses one
// parameter twice is not one that uses two.
// CHECK-LABEL: transformer.model @pattern
// CHECK: transformer.layers %{{.*}} slots {{\[\[}}"layers.*.w"], []] bodies [0, 1, 0]
// CHECK-SAME: table {{\[\[}}@layers.0.w], [], [@layers.2.w]]
// CHECK: transformer.activate
// CHECK: }, {
// CHECK: weight @layers.1.w
// CHECK: weight @layers.1.v
transformer.model @pattern {
  transformer.parameter @layers.0.w : tensor<4x4xf32> = #transformer.drawn<fixed, mean = 1.0, std = 0.0, seed = 1, stream = "0", tensor<4x4xf32>>
  transformer.parameter @layers.1.w : tensor<4x4xf32> = #transformer.drawn<fixed, mean = 2.0, std = 0.0, seed = 1, stream = "1", tensor<4x4xf32>>
  transformer.parameter @layers.1.v : tensor<4x4xf32> = #transformer.drawn<fixed, mean = 2.0, std = 0.0, seed = 1, stream = "1", tensor<4x4xf32>>
  transformer.parameter @layers.2.w : tensor<4x4xf32> = #transformer.drawn<fixed, mean = 3.0, std = 0.0, seed = 1, stream = "2", tensor<4x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %0 = transformer.residual %x layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %a = transformer.linear %u weight @layers.0.w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      %b = transformer.activate %a by silu : tensor<?x?x4xf32>
      %c = transformer.linear %b weight @layers.0.w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %c : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %1 = transformer.residual %0 layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %a = transformer.linear %u weight @layers.1.w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      %b = transformer.activate %a by silu : tensor<?x?x4xf32>
      %c = transformer.linear %b weight @layers.1.v : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %c : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 layer 2 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %a = transformer.linear %u weight @layers.2.w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      %b = transformer.activate %a by silu : tensor<?x?x4xf32>
      %c = transformer.linear %b weight @layers.2.w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %c : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %2 : tensor<?x?x4xf32>
  }
}

// -----

// Keeps of a layer's input move into it, counted from layer 0; the last stays.
// CHECK-LABEL: transformer.model @keeps
// CHECK: transformer.layers %{{.*}} bodies [0, 0]
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<?x?x4xf32>):
// CHECK-NEXT: transformer.keep %[[S]] as "hidden_states" index 0
// CHECK: } : tensor<?x?x4xf32>
// CHECK: transformer.keep %{{.*}} as "hidden_states" index 2
transformer.model @keeps {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    transformer.keep %x as "hidden_states" index 0 : tensor<?x?x4xf32>
    %0 = transformer.residual %x layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      transformer.yield %u : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    transformer.keep %0 as "hidden_states" index 1 : tensor<?x?x4xf32>
    %1 = transformer.residual %0 layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      transformer.yield %u : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    transformer.keep %1 as "hidden_states" index 2 : tensor<?x?x4xf32>
    return %1 : tensor<?x?x4xf32>
  }
}

// -----

// Something else reads the stream between: two stretches.
// CHECK-LABEL: transformer.model @keep_as_stream_has_another_reader
// CHECK: %[[A:.*]] = transformer.layers %{{.*}} bodies [0]
// CHECK: %[[N:.*]] = transformer.norm %[[A]]
// CHECK: %[[B:.*]] = transformer.layers %[[A]] {{.*}} bodies [0]
// CHECK: return %[[B]], %[[N]]
transformer.model @keep_as_stream_has_another_reader {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}, tensor<?x?x4xf32> {transformer.name = "z"}) {
    %0 = transformer.residual %x layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      transformer.yield %u : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %n = transformer.norm %0 by <l2_norm, eps = 1.0e-6> : tensor<?x?x4xf32>
    %1 = transformer.residual %0 layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      transformer.yield %u : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %1, %n : tensor<?x?x4xf32>, tensor<?x?x4xf32>
  }
}

// -----

// Different types of a parameter, different norms: different bodies.
// CHECK-LABEL: transformer.model @keep_as_layers_differ
// CHECK: transformer.layers %{{.*}} bodies [0, 1, 2]
transformer.model @keep_as_layers_differ {
  transformer.parameter @a : tensor<4x4xf32> = #transformer.drawn<fixed, mean = 1.0, std = 0.0, seed = 1, stream = "0", tensor<4x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %0 = transformer.residual %x in_norm [#transformer.norm<l2_norm, eps = 1.0e-6>] {
    ^bb0(%u: tensor<?x?x4xf32>):
      transformer.yield %u : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %1 = transformer.residual %0 in_norm [#transformer.norm<l2_norm, eps = 1.0e-5>] {
    ^bb0(%u: tensor<?x?x4xf32>):
      transformer.yield %u : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<l2_norm, eps = 1.0e-6>] tap normed {
    ^bb0(%u: tensor<?x?x4xf32>):
      transformer.yield %u : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %2 : tensor<?x?x4xf32>
  }
}

// -----

// Scales of scores that differ are a column, beside any op's symbols; what all
// layers read from outside stays.
// CHECK-LABEL: transformer.model @scores
// CHECK-NOT: differences
// CHECK: transformer.layers %{{.*}} slots {{\[\[}}"layers.*.sink", "layers.*.scale"]] bodies [0, 0, 0]
// CHECK-SAME: table {{\[\[}}@layers.0.sink, 5.000000e-01], [@layers.1.sink, 2.500000e-01], [@layers.2.sink, 1.250000e-01]]
// CHECK: attend %{{.*}}, %{{.*}}, %{{.*}} heads 2 {{.*}} scale 1.000000e+00 layer_scale @"layers.*.scale" sink @"layers.*.sink" mask causal
transformer.model @scores {
  transformer.parameter @layers.0.sink : tensor<2xf32> = #transformer.drawn<fixed, mean = 0.0, std = 0.0, seed = 1, stream = "0", tensor<2xf32>>
  transformer.parameter @layers.1.sink : tensor<2xf32> = #transformer.drawn<fixed, mean = 1.0, std = 0.0, seed = 1, stream = "1", tensor<2xf32>>
  transformer.parameter @layers.2.sink : tensor<2xf32> = #transformer.drawn<fixed, mean = 2.0, std = 0.0, seed = 1, stream = "2", tensor<2xf32>>
  func.func @forward(%0: tensor<?x?x4xf32> {transformer.name = "x"}, %out: tensor<?x?x4xf32> {transformer.name = "out"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %1 = transformer.residual %0 in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = none>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %n = transformer.norm %u by <rms_norm, eps = 1.0e-6, affine = none, group = 2> : tensor<?x?x4xf32>
      %a = transformer.attend %n, %n, %out heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 sink @layers.0.sink mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = none>] layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %n = transformer.norm %u by <rms_norm, eps = 1.0e-6, affine = none, group = 2> : tensor<?x?x4xf32>
      %a = transformer.attend %n, %n, %out heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.25 sink @layers.1.sink mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %3 = transformer.residual %2 in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = none>] layer 2 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %n = transformer.norm %u by <rms_norm, eps = 1.0e-6, affine = none, group = 2> : tensor<?x?x4xf32>
      %a = transformer.attend %n, %n, %out heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.125 sink @layers.2.sink mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %3 : tensor<?x?x4xf32>
  }
}

// -----

// A pattern of windows: two bodies, one loop, and why.
// CHECK-LABEL: transformer.model @windows
// CHECK: transformer.layers %{{.*}} bodies [0, 0, 1, 0]
// CHECK-SAME: attributes {differences = ["window of attend is [4, 0], in body 0 absent"]}
transformer.model @windows {
  transformer.parameter @layers.0.sink : tensor<2xf32> = #transformer.drawn<fixed, mean = 0.0, std = 0.0, seed = 1, stream = "0", tensor<2xf32>>
  transformer.parameter @layers.1.sink : tensor<2xf32> = #transformer.drawn<fixed, mean = 1.0, std = 0.0, seed = 1, stream = "1", tensor<2xf32>>
  transformer.parameter @layers.2.sink : tensor<2xf32> = #transformer.drawn<fixed, mean = 2.0, std = 0.0, seed = 1, stream = "2", tensor<2xf32>>
  transformer.parameter @layers.3.sink : tensor<2xf32> = #transformer.drawn<fixed, mean = 3.0, std = 0.0, seed = 1, stream = "3", tensor<2xf32>>
  func.func @forward(%0: tensor<?x?x4xf32> {transformer.name = "x"}, %out: tensor<?x?x4xf32> {transformer.name = "out"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %1 = transformer.residual %0 in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = none>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %n = transformer.norm %u by <rms_norm, eps = 1.0e-6, affine = none, group = 2> : tensor<?x?x4xf32>
      %a = transformer.attend %n, %n, %out heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 sink @layers.0.sink mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = none>] layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %n = transformer.norm %u by <rms_norm, eps = 1.0e-6, affine = none, group = 2> : tensor<?x?x4xf32>
      %a = transformer.attend %n, %n, %out heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 sink @layers.1.sink mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %3 = transformer.residual %2 in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = none>] layer 2 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %n = transformer.norm %u by <rms_norm, eps = 1.0e-6, affine = none, group = 2> : tensor<?x?x4xf32>
      %a = transformer.attend %n, %n, %out heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 sink @layers.2.sink mask causal window [4, 0] : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %4 = transformer.residual %3 in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = none>] layer 3 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %n = transformer.norm %u by <rms_norm, eps = 1.0e-6, affine = none, group = 2> : tensor<?x?x4xf32>
      %a = transformer.attend %n, %n, %out heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 sink @layers.3.sink mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %4 : tensor<?x?x4xf32>
  }
}

// -----

// Norms by other groups are other bodies.
// CHECK-LABEL: transformer.model @keep_as_groups_differ
// CHECK: transformer.layers %{{.*}} bodies [0, 1]
// CHECK-SAME: differences = ["norm of norm is {{.*}}, in body 0 {{.*}}group = 2{{.*}}"]
transformer.model @keep_as_groups_differ {
  transformer.parameter @layers.0.sink : tensor<2xf32> = #transformer.drawn<fixed, mean = 0.0, std = 0.0, seed = 1, stream = "0", tensor<2xf32>>
  transformer.parameter @layers.1.sink : tensor<2xf32> = #transformer.drawn<fixed, mean = 1.0, std = 0.0, seed = 1, stream = "1", tensor<2xf32>>
  func.func @forward(%0: tensor<?x?x4xf32> {transformer.name = "x"}, %out: tensor<?x?x4xf32> {transformer.name = "out"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %1 = transformer.residual %0 in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = none>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %n = transformer.norm %u by <rms_norm, eps = 1.0e-6, affine = none, group = 2> : tensor<?x?x4xf32>
      %a = transformer.attend %n, %n, %out heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 sink @layers.0.sink mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = none>] layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %n = transformer.norm %u by <rms_norm, eps = 1.0e-6, affine = none, group = 4> : tensor<?x?x4xf32>
      %a = transformer.attend %n, %n, %out heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 sink @layers.1.sink mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %2 : tensor<?x?x4xf32>
  }
}

// -----

// A norm between two units of a layer, which share a scale: no stretch of units is whole
// layers, so nothing is rolled, and what is one layer stays one.
// CHECK-LABEL: transformer.model @keep_as_layer_is_cut
// CHECK-NOT: transformer.layers
transformer.model @keep_as_layer_is_cut {
  transformer.parameter @layers.0.a : tensor<1xf32> = #transformer.stored<"f", "a", tensor<1xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %0 = transformer.residual %x skip_scale <learned_scalar @layers.0.a, share = layer> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %a = transformer.activate %u by gelu_erf : tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %1 = transformer.norm %0 by <rms_norm, eps = 1.0e-5> : tensor<?x?x4xf32>
    %2 = transformer.residual %1 skip_scale <learned_scalar @layers.0.a, share = layer> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %a = transformer.activate %u by gelu_erf : tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %2 : tensor<?x?x4xf32>
  }
}
