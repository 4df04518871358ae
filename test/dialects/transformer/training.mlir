// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @loss
// CHECK: %[[L:.*]], %[[G:.*]] = transformer.cross_entropy %{{.*}} labels %{{.*}} weight %{{.*}} ignore -1 smoothing 1.000000e-01 : tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<1xf32> -> tensor<?x?xf32>
func.func @loss(%z: tensor<?x?x8xf32>, %y: tensor<?x?xi32>, %w: tensor<1xf32>) {
  %losses, %g = transformer.cross_entropy %z labels %y weight %w ignore -1 smoothing 0.1
    : tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<1xf32> -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: @squares
// CHECK: %{{.*}}, %{{.*}} = transformer.squared_error %{{.*}} labels %{{.*}} weight %{{.*}} : tensor<?x1xf32>, tensor<1xf32>
func.func @squares(%x: tensor<?x1xf32>, %y: tensor<?x1xf32>, %w: tensor<1xf32>) {
  %losses, %g = transformer.squared_error %x labels %y weight %w : tensor<?x1xf32>, tensor<1xf32>
  return
}

// CHECK-LABEL: @shares
// CHECK: %{{.*}}, %{{.*}} = transformer.binary_cross_entropy %{{.*}} labels %{{.*}} weight %{{.*}} : tensor<?x4xf32>, tensor<1xf32>
func.func @shares(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %w: tensor<1xf32>) {
  %losses, %g = transformer.binary_cross_entropy %x labels %y weight %w : tensor<?x4xf32>, tensor<1xf32>
  return
}

// CHECK-LABEL: @gradients
// CHECK: transformer.weight_gradient %{{.*}}, %{{.*}} weight @w bias @b : tensor<?x?x24xf32>, tensor<?x?x8xf32>
// CHECK: transformer.weight_gradient %{{.*}}, %{{.*}} weight @w fixed_rows [6, 4, 2] : tensor<?x?x24xf32>, tensor<?x?x8xf32>
// CHECK: transformer.linear %{{.*}} weight @w transposed : tensor<?x?x24xf32> -> tensor<?x?x8xf32>
// CHECK: transformer.norm_gradient %{{.*}} at %{{.*}} by <rms_norm, eps = 1.0e-05, affine = weight, weight = @n> : tensor<?x?x8xf32>
// CHECK: transformer.activate_gradient %{{.*}} at %{{.*}} by gelu_erf : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
// CHECK: transformer.activate_gradient %{{.*}} at %{{.*}} times %{{.*}} by silu up_offset 1.000000e+00 : tensor<?x?x8xf32> -> tensor<?x?x8xf32>, tensor<?x?x8xf32>
// CHECK: transformer.activate_gradient %{{.*}} at %{{.*}} cap 3.000000e+01
// CHECK: transformer.activate_gradient %{{.*}} at %{{.*}} low -1.000000e+00 high 1.000000e+00
// CHECK: transformer.scale_gradient %{{.*}} times %{{.*}} to @gamma : tensor<?x?x8xf32>
// CHECK: transformer.scale_gradient %{{.*}} to @shift : tensor<?x?x8xf32>
func.func @gradients(%x: tensor<?x?x8xf32>, %g: tensor<?x?x24xf32>) {
  transformer.weight_gradient %g, %x weight @w bias @b : tensor<?x?x24xf32>, tensor<?x?x8xf32>
  transformer.weight_gradient %g, %x weight @w fixed_rows [6, 4, 2] : tensor<?x?x24xf32>, tensor<?x?x8xf32>
  %0 = transformer.linear %g weight @w transposed : tensor<?x?x24xf32> -> tensor<?x?x8xf32>
  %1 = transformer.norm_gradient %0 at %x by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n> : tensor<?x?x8xf32>
  %2 = transformer.activate_gradient %1 at %x by gelu_erf : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  %3:2 = transformer.activate_gradient %2 at %x times %0 by silu up_offset 1.0 : tensor<?x?x8xf32> -> tensor<?x?x8xf32>, tensor<?x?x8xf32>
  %4 = transformer.activate_gradient %2 at %x cap 30.0 : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  %5 = transformer.activate_gradient %2 at %x low -1.0 high 1.0 : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  transformer.scale_gradient %5 times %x to @gamma : tensor<?x?x8xf32>
  transformer.scale_gradient %5 to @shift : tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: @tokens
// CHECK: transformer.embed_gradient %{{.*}} to(%{{.*}}, %{{.*}}) tables [@word, @position] offsets [0, 2] scale 2.000000e+00 : tensor<?x?x8xf32>, (tensor<?x?xi32>, tensor<?x?xi32>)
// CHECK: transformer.pool_gradient %{{.*}} like %{{.*}} key_mask %{{.*}} : tensor<?x?xi32> by mean skip 1 : tensor<?x8xf32>, tensor<?x?x8xf32>
// CHECK: transformer.reverse_tokens %{{.*}} key_mask %{{.*}} : tensor<?x?xi32> : tensor<?x?x8xf32>
func.func @tokens(%x: tensor<?x?x8xf32>, %p: tensor<?x8xf32>, %ids: tensor<?x?xi32>) {
  transformer.embed_gradient %x to (%ids, %ids) tables [@word, @position] offsets [0, 2] scale 2.0
    : tensor<?x?x8xf32>, (tensor<?x?xi32>, tensor<?x?xi32>)
  %0 = transformer.pool_gradient %p like %x key_mask %ids : tensor<?x?xi32> by mean skip 1 : tensor<?x8xf32>, tensor<?x?x8xf32>
  %1 = transformer.reverse_tokens %0 key_mask %ids : tensor<?x?xi32> : tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: @attention
// CHECK: transformer.attend_gradient %{{.*}} of %{{.*}} at %{{.*}}, %{{.*}}, %{{.*}} key_mask %{{.*}} : tensor<?x?xi32> bias %{{.*}} : tensor<?x2x?x?xf32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 5.000000e-01 sink @s mask causal bias_gradients [0] -> tensor<?x2x?x?xf32>
func.func @attention(%x: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %m: tensor<?x?xi32>, %b: tensor<?x2x?x?xf32>) {
  %q, %gk, %gv, %gb = transformer.attend_gradient %x of %x at %x, %k, %k key_mask %m : tensor<?x?xi32> bias %b : tensor<?x2x?x?xf32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 sink @s mask causal bias_gradients [0] -> tensor<?x2x?x?xf32>
    : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
  return
}

// CHECK-LABEL: @saves
// CHECK: transformer.layers %{{.*}} saves ["x", "sum"] {
// CHECK: transformer.save %{{.*}} as "x" : tensor<?x?x8xf32>
// CHECK: transformer.residual %{{.*}} sum_as "sum"
// CHECK: transformer.layers %{{.*}} reverse slots
// CHECK: transformer.saved "x" : tensor<?x?x8xf32>
func.func @saves(%x: tensor<?x?x8xf32>) {
  %y = transformer.layers %x slots [[]] bodies [0, 0] table [[], []] saves ["x", "sum"] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.save %s as "x" : tensor<?x?x8xf32>
    %0 = transformer.residual %s sum_as "sum" {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    transformer.yield %0 : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  %g = transformer.layers %y reverse slots [[]] bodies [0, 0] table [[], []] {
  ^bb0(%s: tensor<?x?x8xf32>):
    %0 = transformer.saved "x" : tensor<?x?x8xf32>
    %1 = transformer.add %s, %0 : tensor<?x?x8xf32>
    transformer.yield %1 : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: @routes
// CHECK: transformer.route_gradient %{{.*}} at %{{.*}} to %{{.*}} score softmax renormalised true : tensor<?x?x2xf32>, tensor<?x?x4xf32>, tensor<?x?x2xi32>
// CHECK: transformer.slot_products %{{.*}}, %{{.*}} : tensor<?x?x2x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x2xf32>
func.func @routes(%w: tensor<?x?x2xf32>, %l: tensor<?x?x4xf32>, %e: tensor<?x?x2xi32>, %s: tensor<?x?x2x8xf32>, %x: tensor<?x?x8xf32>) {
  %0 = transformer.route_gradient %w at %l to %e score softmax renormalised true : tensor<?x?x2xf32>, tensor<?x?x4xf32>, tensor<?x?x2xi32>
  %1 = transformer.slot_products %s, %x : tensor<?x?x2x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x2xf32>
  return
}

// CHECK-LABEL: @balance
// CHECK: transformer.route_shares %{{.*}} to %{{.*}} : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x8xf32>
// CHECK: transformer.balance_loss %{{.*}}, %{{.*}} key_mask %{{.*}} : tensor<?x?xi32> k 2 factor 1.000000e-02 : tensor<?x?xf32>, tensor<?x?x8xf32>
// CHECK: transformer.shares_gradient %{{.*}} at %{{.*}} : tensor<?x?x8xf32>, tensor<?x?x4xf32>
func.func @balance(%l: tensor<?x?x4xf32>, %e: tensor<?x?x2xi32>, %x: tensor<?x?xf32>, %m: tensor<?x?xi32>) {
  %0 = transformer.route_shares %l to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x8xf32>
  %1, %2 = transformer.balance_loss %x, %0 key_mask %m : tensor<?x?xi32> k 2 factor 0.01 : tensor<?x?xf32>, tensor<?x?x8xf32>
  %3 = transformer.shares_gradient %2 at %l : tensor<?x?x8xf32>, tensor<?x?x4xf32>
  return
}

// CHECK-LABEL: @tables
// CHECK: transformer.bias_gradient %{{.*}} to @rel buckets [0, 1, 2] : tensor<?x2x?x?xf32>
// CHECK: transformer.constant_gradient %{{.*}} to @probe : tensor<?x1x8xf32>
func.func @tables(%b: tensor<?x2x?x?xf32>, %c: tensor<?x1x8xf32>) {
  transformer.bias_gradient %b to @rel buckets [0, 1, 2] : tensor<?x2x?x?xf32>
  transformer.constant_gradient %c to @probe : tensor<?x1x8xf32>
  return
}

// CHECK-LABEL: @sums
// CHECK: transformer.collect %{{.*}} like %{{.*}} into "encoder" : tensor<?x?x8xf32>, tensor<?x?x4xf32>
// CHECK: transformer.collected "encoder" like %{{.*}} : tensor<?x?x4xf32> -> tensor<?x?x8xf32>
// CHECK: transformer.dropout %{{.*}} step %{{.*}} first %{{.*}} rate 1.000000e-01 seed 1 site 0 : tensor<?x?x8xf32>, tensor<1xi32>, tensor<1xi32>
func.func @sums(%g: tensor<?x?x8xf32>, %x: tensor<?x?x4xf32>, %n: tensor<1xi32>) {
  transformer.collect %g like %x into "encoder" : tensor<?x?x8xf32>, tensor<?x?x4xf32>
  %0 = transformer.collected "encoder" like %x : tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  %1 = transformer.dropout %0 step %n first %n rate 0.1 seed 1 site 0 : tensor<?x?x8xf32>, tensor<1xi32>, tensor<1xi32>
  return
}
