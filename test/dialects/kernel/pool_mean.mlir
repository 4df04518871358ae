// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @pool_mean
// CHECK: kernel.pool_mean %{{.*}} key_mask %{{.*}} : tensor<?xi32> tokens %{{.*}} outs(%{{.*}} : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: kernel.pool_mean %{{.*}} tokens %{{.*}} skip 1 outs(%{{.*}} : memref<?x8xf32>) : memref<?x8xf32>{{$}}
func.func @pool_mean(%x: tensor<?x8xf32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x8xf32>, %b: memref<?x8xf32>, %p: memref<?x8xf32>) {
  %y = kernel.pool_mean %x key_mask %m : tensor<?xi32> tokens %t outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  kernel.pool_mean %b tokens %t skip 1 outs(%p : memref<?x8xf32>) : memref<?x8xf32>
  return
}
