// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @shift
// CHECK: kernel.shift %{{.*}} by 2 outs(%{{.*}} : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
// CHECK: kernel.shift %{{.*}} by -1 outs(%{{.*}} : memref<?xi32>) : memref<?xi32>{{$}}
func.func @shift(%i: tensor<?xi32>, %o: tensor<?xi32>, %j: memref<?xi32>, %p: memref<?xi32>) {
  %0 = kernel.shift %i by 2 outs(%o : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
  kernel.shift %j by -1 outs(%p : memref<?xi32>) : memref<?xi32>
  return
}
