// RUN: %mille-opt %s --fold-branch-scales --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --fold-branch-scales=by-cost --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.cost 2> %t.why
// RUN: FileCheck %s --input-file=%t.cost --check-prefix=COST
// RUN: FileCheck %s --input-file=%t.why --check-prefix=WHY
// RUN: %mille-opt %s --fold-branch-scales=bit-exact --split-input-file | FileCheck %s --check-prefix=EXACT

// B (W h + b) = (B W) h + B b.
// CHECK-LABEL: transformer.model @constant
// CHECK: transformer.parameter @w_scaled : tensor<4x4xf32> = #transformer.times<@w, 3.{{0*}}e-01 : f64>
// CHECK: transformer.parameter @b_scaled : tensor<4xf32> = #transformer.times<@b, 3.{{0*}}e-01 : f64>
// CHECK: bound = "2^-24 of sum |B W| |h| + |B b|"
// CHECK: transformer.residual %arg0 layer 0
// CHECK: transformer.linear %{{.*}} weight @w_scaled bias @b_scaled
// EXACT-LABEL: transformer.model @constant
// EXACT: status = "declined: bit-exact"
transformer.model @constant {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_scale [#transformer.scale<constant 0.3>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// EXACT-LABEL: transformer.model @power_of_two
// EXACT: bound = "0: a power of two"
// EXACT: weight @w_scaled bias @b_scaled
transformer.model @power_of_two {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_scale [#transformer.scale<constant 0.5>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Learned ones, for inference: a scalar scales all, a channel vector rows.
// CHECK-LABEL: transformer.model @learned
// CHECK: @w_scaled : tensor<4x4xf32> = #transformer.times<@w, @g>
// CHECK: @b_scaled : tensor<4xf32> = #transformer.times<@b, @g>
// CHECK: reason = "a learned scale into the last linear"
// EXACT-LABEL: transformer.model @learned
// EXACT: status = "declined: bit-exact"
transformer.model @learned {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @g : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "g", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_scale [#transformer.scale<learned_channel @g>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Under a branch norm its weight takes the scale; 1 + weight becomes a weight.
// CHECK-LABEL: transformer.model @branch_norm
// CHECK: @n0_scaled : tensor<4xf32> = #transformer.times<#transformer.plus<@n0, 1.000000e+00 : f64>, 5.000000e-01 : f64>
// CHECK: branch_norm [#transformer.norm<rms_norm, eps = 1.0e-05, affine = weight, weight = @n0_scaled>] layer 0
transformer.model @branch_norm {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = one_plus_weight, weight = @n0>] branch_scale [#transformer.scale<constant 0.5>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_schedule
// CHECK: scheduled
// REMARK: fold-branch-scales declined: law: the scale follows a schedule: it is read at run time
transformer.model @keep_as_schedule {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_scale [#transformer.scale<scheduled from 0.0 to 1.0 over 10>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_no_linear_ends_the_branch
// CHECK: branch_scale
// REMARK: fold-branch-scales declined: law: the branch does not end in a linear
transformer.model @keep_as_no_linear_ends_the_branch {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_scale [#transformer.scale<constant 0.5>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.activate %u by tanh : tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_linear_has_another_reader
// CHECK: branch_scale
// REMARK: fold-branch-scales declined: law: the last linear has another reader
transformer.model @keep_as_linear_has_another_reader {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_scale [#transformer.scale<constant 0.5>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.keep %h as "h" index 0 : tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_branch_norm_has_no_weight
// CHECK: branch_scale
// REMARK: fold-branch-scales declined: law: the branch norm has no weight
transformer.model @keep_as_branch_norm_has_no_weight {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = none>] branch_scale [#transformer.scale<constant 0.5>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_column
// REMARK: fold-branch-scales declined: law: the scale is a column of the layer table
transformer.model @keep_as_column {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.layers %x slots [["c"]] bodies [0] table [[2.0]] {
    ^bb0(%z: tensor<?x?x4xf32>):
      %r = transformer.residual %z branch_scale [#transformer.scale<constant @c>] {
      ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
      transformer.yield %r : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_experts_and_channels
// REMARK: fold-branch-scales declined: law: a vector of channels does not scale a stack of experts
transformer.model @keep_as_experts_and_channels {
  transformer.parameter @w : tensor<2x4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<2x4x4xf32>>
  transformer.parameter @g : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "g", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %e: tensor<?x?xi32> {transformer.name = "e", transformer.below = 2 : i64}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_scale [#transformer.scale<learned_channel @g>] {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u experts %e : tensor<?x?xi32> weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Another linear reads the weight as it is: a copy would be bytes.
// WHY: fold-branch-scales declined: cost: another linear shares the weight without the factor: numbers of weights 16, rewritten 32
// COST-LABEL: transformer.model @by_cost_keep_as_weight_is_shared
// COST: branch_scale
transformer.model @by_cost_keep_as_weight_is_shared {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.linear %x weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %y = transformer.residual %1 branch_scale [#transformer.scale<constant 0.5>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Both entries scale what the weight gives: one weight serves both.
// COST-LABEL: transformer.model @by_cost_in_both_entries
// COST-NOT: branch_scale
// COST: return
// COST-NOT: branch_scale
// COST: return
transformer.model @by_cost_in_both_entries {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_scale [#transformer.scale<constant 0.3>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
  func.func @text(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_scale [#transformer.scale<constant 0.3>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}
