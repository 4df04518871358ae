// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @rotate
// CHECK: kernel.rotate %{{.*}} by %{{.*}} outs(%{{.*}} : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
// CHECK: kernel.rotate %{{.*}} by %{{.*}} outs(%{{.*}} : memref<?x8xf32>) heads 2 head_dim 4 pairing interleaved start 2 : memref<?x8xf32>, memref<?x2xf32>{{$}}
func.func @rotate(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>, %o: tensor<?x8xf32>, %b: memref<?x8xf32>, %s: memref<?x2xf32>, %p: memref<?x8xf32>) {
  %y = kernel.rotate %x by %r outs(%o : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0
    : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  kernel.rotate %b by %s outs(%p : memref<?x8xf32>) heads 2 head_dim 4 pairing interleaved start 2
    : memref<?x8xf32>, memref<?x2xf32>
  return
}
