// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @patch_table
// CHECK: kernel.patch_table height %{{.*}} width %{{.*}} base %{{.*}} : tensor<2x8xf32> table %{{.*}} : tensor<10x8xf32> patch [4, 4] prefix 1 own [3, 3] placed 1 resize bicubic outs(%{{.*}} : tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK: kernel.patch_table height %{{.*}} width %{{.*}} base %{{.*}} : memref<2x8xf32> patch [4, 4] prefix 1 outs(%{{.*}} : memref<?x8xf32>){{$}}
func.func @patch_table(%h: index, %w: index, %b: tensor<2x8xf32>, %t: tensor<10x8xf32>, %o: tensor<?x8xf32>, %m: memref<2x8xf32>, %p: memref<?x8xf32>) {
  %r = kernel.patch_table height %h width %w base %b : tensor<2x8xf32> table %t : tensor<10x8xf32> patch [4, 4] prefix 1 own [3, 3] placed 1 resize bicubic outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  kernel.patch_table height %h width %w base %m : memref<2x8xf32> patch [4, 4] prefix 1 outs(%p : memref<?x8xf32>)
  return
}
