// RUN: %mille-opt %s --rotate-norms --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --rotate-norms=by-cost --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.cost 2> %t.why
// RUN: FileCheck %s --input-file=%t.cost --check-prefix=COST
// RUN: FileCheck %s --input-file=%t.why --check-prefix=WHY
// RUN: %mille-opt %s --rotate-norms=bit-exact --split-input-file | FileCheck %s --check-prefix=EXACT

// The first norm comes before the stack, the last ends the last unit.
// CHECK-LABEL: transformer.model @rotates
// CHECK: transformer.rewrites = [{bound = "0: the same operations in the same order", law = {{.*}}, layers = "0-1", name = "rotate-norms", reason = {{.*}}, status = "applied", unit = "w"}]
// CHECK: %[[E:.*]] = transformer.norm %arg0 by {{.*}}@n0
// CHECK: %[[Y:.*]] = transformer.residual %[[E]] out_norm {{.*}}@n1> skip_scale <constant 1.7> layer 0
// CHECK: %[[Z:.*]] = transformer.residual %[[Y]] out_norm {{.*}}@n2> skip_scale <constant 1.7> layer 1
// CHECK-NOT: transformer.norm
// CHECK: return %[[Z]]
// Bit-equal: also where bits count.
// EXACT-LABEL: transformer.model @rotates
// EXACT: status = "applied"
transformer.model @rotates {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @n1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n1", tensor<4xf32>>
  transformer.parameter @n2 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n2", tensor<4xf32>>
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] tap normed skip_scale <constant 1.7> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n1>] tap normed skip_scale <constant 1.7> layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %y = transformer.norm %2 by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n2> : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_hidden_states
// CHECK: tap  normed
// CHECK: tap  normed
// REMARK: rotate-norms declined: law: hidden states keep the stream between the units
transformer.model @keep_as_hidden_states {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @n1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n1", tensor<4xf32>>
  transformer.parameter @n2 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n2", tensor<4xf32>>
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] tap normed skip_scale <constant 1.7> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    transformer.keep %1 as "hidden_states" index 1 : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n1>] tap normed skip_scale <constant 1.7> layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %y = transformer.norm %2 by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n2> : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_stream_has_another_reader
// CHECK: tap  normed
// CHECK: tap  normed
// REMARK: rotate-norms declined: law: something else reads the stream between the units
transformer.model @keep_as_stream_has_another_reader {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @n1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n1", tensor<4xf32>>
  transformer.parameter @n2 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n2", tensor<4xf32>>
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] tap normed skip_scale <constant 1.7> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n1>] tap normed skip_scale <constant 1.7> layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %3 = transformer.add %1, %2 : tensor<?x?x4xf32>
    %y = transformer.norm %2 by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n2> : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_no_norm_closes
// CHECK: tap  normed
// REMARK: rotate-norms declined: law: no norm closes the stack
transformer.model @keep_as_no_norm_closes {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @n1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n1", tensor<4xf32>>
  transformer.parameter @n2 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n2", tensor<4xf32>>
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] tap normed skip_scale <constant 1.7> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n1>] tap normed skip_scale <constant 1.7> layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %y = transformer.add %2, %2 : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_stream_scale
// CHECK: tap  normed
// REMARK: rotate-norms declined: law: a stream scale stands between the units
transformer.model @keep_as_stream_scale {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @n1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n1", tensor<4xf32>>
  transformer.parameter @n2 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n2", tensor<4xf32>>
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] tap normed skip_scale <constant 1.7> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n1>] tap normed skip_scale <constant 1.7> stream_scale <constant 2.0> layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %y = transformer.norm %2 by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n2> : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_own_out_norm
// CHECK: tap  normed
// REMARK: rotate-norms declined: law: a unit has an out_norm of its own
transformer.model @keep_as_own_out_norm {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @n1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n1", tensor<4xf32>>
  transformer.parameter @n2 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n2", tensor<4xf32>>
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] tap normed skip_scale <constant 1.7> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n1>] out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> tap normed skip_scale <constant 1.7> layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %y = transformer.norm %2 by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n2> : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Nothing to exchange afterwards: the kernels would be the same.
// WHY: rotate-norms declined: cost: the same kernels either way, and no skip scale to exchange: norms 3, rewritten 3
// COST-LABEL: transformer.model @by_cost_keep_as_no_scale
// COST: tap  normed
transformer.model @by_cost_keep_as_no_scale {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @n1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n1", tensor<4xf32>>
  transformer.parameter @n2 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n2", tensor<4xf32>>
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] tap normed layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n1>] tap normed layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %y = transformer.norm %2 by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n2> : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// WHY: rotate-norms declined: cost: the closing norm is not like the others: bodies of the last layer alone 0, rewritten 1
// COST-LABEL: transformer.model @by_cost_keep_as_closing_norm_differs
// COST: tap  normed
transformer.model @by_cost_keep_as_closing_norm_differs {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  transformer.parameter @n1 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n1", tensor<4xf32>>
  transformer.parameter @n2 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n2", tensor<4xf32>>
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] tap normed skip_scale <constant 1.7> layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %2 = transformer.residual %1 in_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n1>] tap normed skip_scale <constant 1.7> layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %y = transformer.norm %2 by <rms_norm, eps = 1.0e-6, affine = weight, weight = @n2> : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}
