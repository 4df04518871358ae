// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @move_patches
// CHECK: kernel.move_patches %{{.*}} height %{{.*}} width %{{.*}} move into_windows side [4, 4] size 7 shift 3 outs(%{{.*}} : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: kernel.move_patches %{{.*}} height %{{.*}} width %{{.*}} move merge side [4, 2] outs(%{{.*}} : memref<?x32xf32>) : memref<?x8xf32>{{$}}
func.func @move_patches(%h: index, %w: index, %x: tensor<?x8xf32>, %o: tensor<?x8xf32>, %b: memref<?x8xf32>, %p: memref<?x32xf32>) {
  %y = kernel.move_patches %x height %h width %w move into_windows side [4, 4] size 7 shift 3 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  kernel.move_patches %b height %h width %w move merge side [4, 2] outs(%p : memref<?x32xf32>) : memref<?x8xf32>
  return
}
