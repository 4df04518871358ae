// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @pool_index
// CHECK: kernel.pool_index of %{{.*}} : tensor<?xi32> tokens %{{.*}} kind last skip 0 id 0 outs(%{{.*}} : tensor<?xi32>) -> tensor<?xi32>
// CHECK: kernel.pool_index of %{{.*}} : tensor<?xi32> tokens %{{.*}} kind first_id skip 0 id 49407 outs(
// CHECK: kernel.pool_index tokens %{{.*}} kind first skip 2 id 0 outs(%{{.*}} : memref<?xi32>){{$}}
func.func @pool_index(%mask: tensor<?xi32>, %t: index, %o: tensor<?xi32>, %p: memref<?xi32>) {
  %i = kernel.pool_index of %mask : tensor<?xi32> tokens %t kind last skip 0 id 0 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  %j = kernel.pool_index of %mask : tensor<?xi32> tokens %t kind first_id skip 0 id 49407 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  kernel.pool_index tokens %t kind first skip 2 id 0 outs(%p : memref<?xi32>)
  return
}
