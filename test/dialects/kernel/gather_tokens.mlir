// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @gather_tokens
// CHECK: kernel.gather_tokens %{{.*}} index [1, 0] group 1 tokens 2 outs(%{{.*}} : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: kernel.gather_tokens %{{.*}} index [-1, 0, 1, 0, 1, -1] group 3 tokens 2 outs(%{{.*}} : memref<?x24xf32>) : memref<?x8xf32>{{$}}
// CHECK: kernel.gather_tokens %{{.*}} index [3, 2, 1, -1] group 1 parts 2 tokens 2 outs(%{{.*}} : tensor<?x4xf32>) : tensor<?x8xf32> -> tensor<?x4xf32>
func.func @gather_tokens(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>, %h: tensor<?x4xf32>, %b: memref<?x8xf32>, %p: memref<?x24xf32>) {
  %y = kernel.gather_tokens %x index [1, 0] group 1 tokens 2 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  kernel.gather_tokens %b index [-1, 0, 1, 0, 1, -1] group 3 tokens 2 outs(%p : memref<?x24xf32>) : memref<?x8xf32>
  %z = kernel.gather_tokens %x index [3, 2, 1, -1] group 1 parts 2 tokens 2 outs(%h : tensor<?x4xf32>) : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}
