// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @pool_gradient
// CHECK: kernel.pool_gradient %{{.*}} index %{{.*}} : tensor<?xi32> tokens %{{.*}} skip 0 outs(%{{.*}} : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: kernel.pool_gradient %{{.*}} key_mask %{{.*}} : tensor<?xi32> tokens %{{.*}} skip 1 outs(%{{.*}} : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
func.func @pool_gradient(%g: tensor<?x8xf32>, %i: tensor<?xi32>, %t: index, %o: tensor<?x8xf32>) {
  %0 = kernel.pool_gradient %g index %i : tensor<?xi32> tokens %t skip 0 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = kernel.pool_gradient %g key_mask %i : tensor<?xi32> tokens %t skip 1 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}
