// RUN: %mille-opt %s | %mille-opt | FileCheck %s
// RUN: %mille-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @deepnorm
// CHECK: transformer.residual %{{.*}} out_norm <layer_norm, eps = 1.0e-05, affine = weight, weight = @n1.weight, bias = @n1.bias> skip_scale <constant 3.5565588200778455 = "(2*80)^(1/4)"> {
// FOLD-LABEL: @deepnorm
// FOLD: skip_scale <constant 3.5565588200778455 = "(2*80)^(1/4)">
func.func @deepnorm(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.residual %x
      out_norm <layer_norm, eps = 1.0e-5, affine = weight, weight = @n1.weight, bias = @n1.bias>
      skip_scale <constant 3.5565588200778455 = "(2*80)^(1/4)"> {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// Every slot at once, and two branches.
// CHECK-LABEL: @all
// CHECK: in_norm [#transformer.norm<rms_norm, eps = 1.0e-06>] branch_norm [#transformer.norm<identity>, #transformer.norm<l2_norm>]
// CHECK-SAME: out_norm <rms_norm, eps = 1.0e-06> tap normed skip_scale <learned_channel @gamma>
// CHECK-SAME: branch_scale [#transformer.scale<constant 1.0>, #transformer.scale<scheduled from 0.0 to 1.0 over 1000>]
// CHECK-SAME: stream_scale <constant 0.5> layer 3 {
// CHECK: }, {
func.func @all(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-6>]
      branch_norm [#transformer.norm<identity>, #transformer.norm<l2_norm>]
      out_norm <rms_norm, eps = 1.0e-6> tap normed skip_scale <learned_channel @gamma>
      branch_scale [#transformer.scale<constant 1.0>, #transformer.scale<scheduled from 0.0 to 1.0 over 1000>]
      stream_scale <constant 0.5> layer 3 {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  }, {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// Identities go, all of a list or none of it.
// FOLD-LABEL: @identities_go
// FOLD: transformer.residual %{{[a-z0-9]+}} layer 0 {
func.func @identities_go(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.residual %x in_norm [#transformer.norm<identity>] branch_norm [#transformer.norm<identity>]
      out_norm <identity> skip_scale <constant 1.0> branch_scale [#transformer.scale<constant 1.0 = "2^0">]
      stream_scale <constant 1.0> layer 0 {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// FOLD-LABEL: @keep_as_another_branch_has_one
// FOLD: branch_norm [#transformer.norm<identity>, #transformer.norm<l2_norm>]
// FOLD-SAME: branch_scale [#transformer.scale<constant 1.0>, #transformer.scale<constant 2.0>]
func.func @keep_as_another_branch_has_one(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.residual %x branch_norm [#transformer.norm<identity>, #transformer.norm<l2_norm>]
      branch_scale [#transformer.scale<constant 1.0>, #transformer.scale<constant 2.0>] {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  }, {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// FOLD-LABEL: @keep_as_it_is_a_column
// FOLD: skip_scale <constant @"layers.*.skip">
func.func @keep_as_it_is_a_column(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.residual %x skip_scale <constant @"layers.*.skip"> {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
