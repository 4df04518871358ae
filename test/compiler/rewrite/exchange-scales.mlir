// RUN: %mille-opt %s --exchange-scales --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --exchange-scales=by-cost --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.cost 2> %t.why
// RUN: FileCheck %s --input-file=%t.cost --check-prefix=COST
// RUN: FileCheck %s --input-file=%t.why --check-prefix=WHY
// RUN: %mille-opt %s --exchange-scales=bit-exact --split-input-file | FileCheck %s --check-prefix=EXACT

// N_e(A x + B F) = N_{e/A^2}(x + (B/A) F).
// CHECK-LABEL: transformer.model @skip_becomes_1
// CHECK: bound = "2 * 2^-24 of |A x| + |B F|"
// CHECK-SAME: reason = "c = 2.5, eps 1.0e-05 -> 1.6{{0*}}{{1*}}e-06"
// CHECK: transformer.residual %arg0 out_norm <rms_norm, eps = 1.6{{.*}}e-06
// CHECK-NOT: skip_scale
// CHECK-SAME: branch_scale [#transformer.scale<constant 0.2>]
// A rounding moves.
// EXACT-LABEL: transformer.model @skip_becomes_1
// EXACT: status = "declined: bit-exact"
// EXACT: skip_scale <constant 2.5>
// Worth it: the last linear takes 1/A.
// COST-LABEL: transformer.model @skip_becomes_1
// COST: status = "applied"
transformer.model @skip_becomes_1 {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> skip_scale <constant 2.5> branch_scale [#transformer.scale<constant 0.5>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Powers of two move no rounding.
// EXACT-LABEL: transformer.model @power_of_two
// EXACT: bound = "0: a power of two"
// EXACT: eps = 2.5e-06
// EXACT-SAME: branch_scale [#transformer.scale<constant 0.5>]
transformer.model @power_of_two {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> skip_scale <constant 2.0> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Of an l2 norm eps is divided by c, not by its square.
// CHECK-LABEL: transformer.model @l2
// CHECK: out_norm <l2_norm, eps = 0.25
transformer.model @l2 {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <l2_norm, eps = 1.0, affine = weight, weight = @n0> skip_scale <constant 4.0> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @scale_of_branches
// CHECK: eps = 2.5e-06
// CHECK-NOT: branch_scale
// CHECK-SAME: skip_scale <constant 0.5> layer 0
transformer.model @scale_of_branches {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> branch_scale [#transformer.scale<constant 2.0>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_learned_skip
// REMARK: exchange-scales declined: law: a branch scale is no constant
transformer.model @keep_as_learned_skip {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @s : tensor<1xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "s", tensor<1xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> skip_scale <constant 2.0> branch_scale [#transformer.scale<learned_scalar @s>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_learned_skip_scale
// REMARK: exchange-scales declined: law: the skip scale is no constant
transformer.model @keep_as_learned_skip_scale {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @s : tensor<1xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "s", tensor<1xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> skip_scale <learned_scalar @s> branch_scale [#transformer.scale<constant 0.5>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_no_norm
// CHECK: skip_scale <constant 2.0>
// REMARK: exchange-scales declined: law: no norm follows the sum
transformer.model @keep_as_no_norm {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x skip_scale <constant 2.0> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_negative
// CHECK: skip_scale <constant -2.0>
// REMARK: exchange-scales declined: law: the scale is not above 0: the norm's sign would change
transformer.model @keep_as_negative {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> skip_scale <constant -2.0> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_eps_underflows
// CHECK: skip_scale <constant 1.0e+20>
// REMARK: exchange-scales declined: law: eps would be no normal number of f32
transformer.model @keep_as_eps_underflows {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> skip_scale <constant 1.0e+20> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_several_branch_scales
// REMARK: exchange-scales declined: law: the skip scale is 1 and the branches have several scales
transformer.model @keep_as_several_branch_scales {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> branch_scale [#transformer.scale<constant 0.5>, #transformer.scale<constant 0.25>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    }, {
    ^bb0(%v: tensor<?x?x4xf32>):
      transformer.yield %v : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Only a multiplication would move.
// WHY: exchange-scales declined: cost: a branch cannot take a factor: scales at run time 1, rewritten 1
// COST-LABEL: transformer.model @by_cost_keep_as_branch_takes_no_factor
// COST: skip_scale <constant 2.0>
transformer.model @by_cost_keep_as_branch_takes_no_factor {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> skip_scale <constant 2.0> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.activate %u by tanh : tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Two scales, and the branch takes none: the branch's becomes 1.
// COST-LABEL: transformer.model @by_cost_branch_scale
// COST: eps = 2.5e-06
// COST-SAME: skip_scale <constant 1.5>
// COST-NOT: branch_scale
// COST-SAME: layer 0
transformer.model @by_cost_branch_scale {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> skip_scale <constant 3.0> branch_scale [#transformer.scale<constant 2.0>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.activate %u by tanh : tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Branches with two scales, and neither takes its own: one scale is left of three.
// COST-LABEL: transformer.model @by_cost_two_branches
// COST: eps = 2.5e-06
// COST-NOT: skip_scale
// COST-SAME: branch_scale [#transformer.scale<constant 1.0>, #transformer.scale<constant 1.5>] layer 0
transformer.model @by_cost_two_branches {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> skip_scale <constant 2.0> branch_scale [#transformer.scale<constant 2.0>, #transformer.scale<constant 3.0>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.activate %u by tanh : tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    }, {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.activate %u by gelu_erf : tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// One eps in all layers, and layers stay equal; not so where A differs.
// WHY: exchange-scales declined: cost: eps would differ from layer to layer: bodies of layers 1, rewritten 2
// COST-LABEL: transformer.model @by_cost_keep_as_layers_would_differ
// COST: skip_scale <constant 2.0>
// COST: skip_scale <constant 3.0>
transformer.model @by_cost_keep_as_layers_would_differ {
  transformer.parameter @w0 : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w0", tensor<4x4xf32>>
  transformer.parameter @b0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b0", tensor<4xf32>>
  transformer.parameter @w1 : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w1", tensor<4x4xf32>>
  transformer.parameter @b1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b1", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @n1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n1", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> skip_scale <constant 2.0> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w0 bias @b0 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %y = transformer.residual %1 out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n1> skip_scale <constant 3.0> layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w1 bias @b1 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}
