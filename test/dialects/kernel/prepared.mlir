// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// What the runtime prepares once per run, and the ops that only move rows.
// CHECK-LABEL: @prepared
// CHECK: kernel.key_bias %{{.*}} outs(%{{.*}} : tensor<?x1xf32>) : tensor<?xi32> -> tensor<?x1xf32>
// CHECK: kernel.rotation %{{.*}} frequencies [1.0, 0.01] factor 1.000000e+00 outs(%{{.*}} : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
// CHECK: kernel.schedule %{{.*}} from 0.000000e+00 to 1.000000e+00 over 1000 outs(%{{.*}} : tensor<1xf32>) : tensor<1xi32> -> tensor<1xf32>
// CHECK: kernel.pool_index of %{{.*}} : tensor<?xi32> tokens %{{.*}} kind 1 skip 0 id 0 outs(%{{.*}} : tensor<?xi32>) -> tensor<?xi32>
// CHECK: kernel.pool_mean %{{.*}} mask %{{.*}} : tensor<?xi32> tokens %{{.*}} outs(%{{.*}} : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: kernel.keep %{{.*}} as "hidden_states" index 1 : tensor<?x8xf32>
func.func @prepared(%mask: tensor<?xi32>, %positions: tensor<?xi32>, %step: tensor<1xi32>, %x: tensor<?x8xf32>, %t: index,
    %o1: tensor<?x1xf32>, %o4: tensor<?x4xf32>, %os: tensor<1xf32>, %oi: tensor<?xi32>, %o8: tensor<?x8xf32>) {
  %b = kernel.key_bias %mask outs(%o1 : tensor<?x1xf32>) : tensor<?xi32> -> tensor<?x1xf32>
  %r = kernel.rotation %positions frequencies [1.0, 0.01] factor 1.0 outs(%o4 : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
  %s = kernel.schedule %step from 0.0 to 1.0 over 1000 outs(%os : tensor<1xf32>) : tensor<1xi32> -> tensor<1xf32>
  %i = kernel.pool_index of %mask : tensor<?xi32> tokens %t kind 1 skip 0 id 0 outs(%oi : tensor<?xi32>) -> tensor<?xi32>
  %p = kernel.pool_mean %x mask %mask : tensor<?xi32> tokens %t outs(%o8 : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  kernel.keep %x as "hidden_states" index 1 : tensor<?x8xf32>
  return
}
