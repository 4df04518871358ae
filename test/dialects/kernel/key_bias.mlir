// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @key_bias
// CHECK: kernel.key_bias %{{.*}} outs(%{{.*}} : tensor<?x1xf32>) : tensor<?xi32> -> tensor<?x1xf32>
// CHECK: kernel.key_bias %{{.*}} outs(%{{.*}} : memref<?x1xf32>) : memref<?xi32>{{$}}
func.func @key_bias(%mask: tensor<?xi32>, %o: tensor<?x1xf32>, %b: memref<?xi32>, %p: memref<?x1xf32>) {
  %b0 = kernel.key_bias %mask outs(%o : tensor<?x1xf32>) : tensor<?xi32> -> tensor<?x1xf32>
  kernel.key_bias %b outs(%p : memref<?x1xf32>) : memref<?xi32>
  return
}
