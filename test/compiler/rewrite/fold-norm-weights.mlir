// RUN: %mille-opt %s --fold-norm-weights --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --fold-norm-weights=by-cost --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.cost 2> %t.why
// RUN: FileCheck %s --input-file=%t.cost --check-prefix=COST
// RUN: FileCheck %s --input-file=%t.why --check-prefix=WHY
// RUN: %mille-opt %s --fold-norm-weights=bit-exact --split-input-file | FileCheck %s --check-prefix=EXACT

// W (g n + c) + b = (W diag g) n + (W c + b).
// CHECK-LABEL: transformer.model @unit
// CHECK-DAG: @w_normed : tensor<4x4xf32> = #transformer.times<@w, #transformer.reshape<@n0, [1, 4]>>
// CHECK-DAG: @b_shifted : tensor<4xf32> = #transformer.plus<#transformer.reshape<#transformer.product<@w, #transformer.reshape<@c, [1, 4]>>, [4]>, @b>
// CHECK: in_norm [#transformer.norm<layer_norm, eps = 1.0e-05>]
// CHECK: weight @w_normed bias @b_shifted
// EXACT-LABEL: transformer.model @unit
// EXACT: status = "declined: bit-exact"
transformer.model @unit {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @c : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "c", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x in_norm [#transformer.norm<layer_norm, eps = 1.0e-5, affine = weight, weight = @n0, bias = @c>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Branches that share a norm all take its weight.
// CHECK-LABEL: transformer.model @two_branches
// CHECK-DAG: @v_normed : tensor<4x4xf32> = #transformer.times<@v, #transformer.reshape<@n0, [1, 4]>>
// CHECK-DAG: @w_normed : tensor<4x4xf32> = #transformer.times<@w, #transformer.reshape<@n0, [1, 4]>>
// CHECK: in_norm [#transformer.norm<rms_norm, eps = 1.0e-05>]
// CHECK: weight @w_normed
// CHECK: weight @v_normed
transformer.model @two_branches {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @v : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "v", tensor<4x4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    }, {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @v : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @one_plus
// CHECK: #transformer.times<@w, #transformer.reshape<#transformer.plus<@n0, 1.000000e+00 : f64>, [1, 4]>>
// CHECK: transformer.norm %arg0 by <rms_norm, eps = 1.0e-05>
transformer.model @one_plus {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %n = transformer.norm %x by <rms_norm, eps = 1.0e-5, affine = one_plus_weight, weight = @n0> : tensor<?x?x4xf32>
    %y = transformer.linear %n weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_skip_reads_it
// REMARK: fold-norm-weights declined: law: the skip reads the normed rows
transformer.model @keep_as_skip_reads_it {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] tap normed layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_another_reader
// REMARK: fold-norm-weights declined: law: something else than a linear reads the normed rows
transformer.model @keep_as_another_reader {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.activate %u by tanh : tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_experts
// REMARK: fold-norm-weights declined: law: a stack of experts reads the normed rows
transformer.model @keep_as_experts {
  transformer.parameter @w : tensor<2x4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<2x4x4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %e: tensor<?x?xi32> {transformer.name = "e", transformer.below = 2 : i64}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %n = transformer.norm %x by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> : tensor<?x?x4xf32>
    %y = transformer.linear %n experts %e : tensor<?x?xi32> weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_groups
// REMARK: fold-norm-weights declined: law: the norm is one of groups
transformer.model @keep_as_groups {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<2xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %n = transformer.norm %x by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0, group = 2> : tensor<?x?x4xf32>
    %y = transformer.linear %n weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_scaled_linear
// REMARK: fold-norm-weights declined: law: a linear's scale does not multiply the norm's bias
transformer.model @keep_as_scaled_linear {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @c : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "c", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %n = transformer.norm %x by <layer_norm, eps = 1.0e-5, affine = weight, weight = @n0, bias = @c> : tensor<?x?x4xf32>
    %y = transformer.linear %n weight @w scale 2.0 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_nothing_reads_it
// REMARK: fold-norm-weights declined: law: nothing reads the normed rows
transformer.model @keep_as_nothing_reads_it {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %n = transformer.norm %x by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> : tensor<?x?x4xf32>
    %y = transformer.add %x, %x : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// WHY: fold-norm-weights declined: cost: linears without a bias would get one: biases to add 1, rewritten 1
// COST-LABEL: transformer.model @by_cost_keep_as_linear_without_bias
transformer.model @by_cost_keep_as_linear_without_bias {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @c : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "c", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %n = transformer.norm %x by <layer_norm, eps = 1.0e-5, affine = weight, weight = @n0, bias = @c> : tensor<?x?x4xf32>
    %y = transformer.linear %n weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// All norms of a stack, with the one that closes it, or none.
// WHY: fold-norm-weights declined: cost: a norm of the stack keeps its weight, and unlike norms are not carried to the sums they read: norms with a launch of their own 0, rewritten 2
// COST-LABEL: transformer.model @by_cost_keep_as_closing_norm_stays
// COST: in_norm {{.*}}weight = @n0
transformer.model @by_cost_keep_as_closing_norm_stays {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @n1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n1", tensor<4xf32>>
  transformer.parameter @n2 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n2", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.norm %1 by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n1> : tensor<?x?x4xf32>
    %y = transformer.activate %2 by tanh : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// COST-LABEL: transformer.model @by_cost_whole_stack
// COST: w_normed
// COST: transformer.norm {{.*}}eps = 1.0e-05> :
transformer.model @by_cost_whole_stack {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @n1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n1", tensor<4xf32>>
  transformer.parameter @n2 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n2", tensor<4xf32>>
  transformer.parameter @v : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "v", tensor<4x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.norm %1 by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n1> : tensor<?x?x4xf32>
    %y = transformer.linear %2 weight @v : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// WHY: fold-norm-weights declined: cost: another linear shares the weight without the factor: numbers of weights 16, rewritten 32
// COST-LABEL: transformer.model @by_cost_keep_as_weight_is_shared
transformer.model @by_cost_keep_as_weight_is_shared {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %n = transformer.norm %x by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> : tensor<?x?x4xf32>
    %1 = transformer.linear %n weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %y = transformer.linear %1 weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}
