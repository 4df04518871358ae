// RUN: %mille-opt %s --find-dead-scales --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK

// CHECK-LABEL: transformer.model @embedding
// CHECK: transformer.rewrites = [{{.*}}reason = "4.0 of embed is undone by the norm that reads it, but for eps", roundings = 0 : i64, status = "found"
// REMARK: find-dead-scales found: 4.0 of embed is undone by the norm that reads it, but for eps
transformer.model @embedding {
  transformer.parameter @t : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "t", tensor<8x4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%i: tensor<?x?xi32> {transformer.name = "input_ids", transformer.below = 8 : i64}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %e = transformer.embed(%i) tables [@t] offsets [0] scale 4.0 : (tensor<?x?xi32>) -> tensor<?x?x4xf32>
    %y = transformer.norm %e by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Before a branch norm; after it a scale has an effect.
// CHECK-LABEL: transformer.model @before_branch_norm
// CHECK: reason = "0.3 of linear is undone
// REMARK: find-dead-scales found: 0.3 of linear is undone by the norm that reads it, but for eps
transformer.model @before_branch_norm {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_norm [#transformer.norm<rms_norm, eps = 1.0e-5, affine = weight, weight = @n0>] branch_scale [#transformer.scale<constant 0.5>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w scale 0.3 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @common
// REMARK: find-dead-scales found: 3.0 of skip and branches is undone by the norm of their sum, but for eps
transformer.model @common {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> skip_scale <constant 3.0> branch_scale [#transformer.scale<constant 3.0>] layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %h = transformer.linear %u weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %h : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// A bias is not scaled, and another reader sees the scale.
// CHECK-LABEL: transformer.model @alive
// CHECK-NOT: transformer.rewrites
transformer.model @alive {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.linear %x weight @w bias @b scale 3.0 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %2 = transformer.norm %1 by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> : tensor<?x?x4xf32>
    %3 = transformer.affine %x scale <constant 2.0> : tensor<?x?x4xf32>
    %4 = transformer.norm %3 by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> : tensor<?x?x4xf32>
    %5 = transformer.add %2, %4 : tensor<?x?x4xf32>
    %y = transformer.add %5, %3 : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}
