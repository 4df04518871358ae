// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @count_tokens
// CHECK: kernel.count_tokens %{{.*}} tokens %{{.*}} padding 1 outs(%{{.*}} : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
// CHECK: kernel.count_tokens %{{.*}} tokens %{{.*}} outs(%{{.*}} : memref<?xi32>) : memref<?xi32>{{$}}
// CHECK: kernel.count_tokens %{{.*}} tokens %{{.*}} first 0 each 4 outs(
func.func @count_tokens(%ids: tensor<?xi32>, %t: index, %o: tensor<?xi32>, %b: memref<?xi32>, %p: memref<?xi32>) {
  %c = kernel.count_tokens %ids tokens %t padding 1 outs(%o : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
  kernel.count_tokens %b tokens %t outs(%p : memref<?xi32>) : memref<?xi32>
  kernel.count_tokens %b tokens %t first 0 each 4 outs(%p : memref<?xi32>) : memref<?xi32>
  return
}
