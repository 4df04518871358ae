// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @patch_rotation
// CHECK: kernel.patch_rotation height %{{.*}} width %{{.*}} patch [4, 4] prefix 1 theta 1.000000e+02 head_dim 8 outs(%{{.*}} : tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK: kernel.patch_rotation height %{{.*}} width %{{.*}} patch [4, 2] prefix 0 theta 1.000000e+04 head_dim 9 outs(%{{.*}} : memref<?x8xf32>){{$}}
func.func @patch_rotation(%h: index, %w: index, %o: tensor<?x8xf32>, %p: memref<?x8xf32>) {
  %r = kernel.patch_rotation height %h width %w patch [4, 4] prefix 1 theta 100.0 head_dim 8 outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  kernel.patch_rotation height %h width %w patch [4, 2] prefix 0 theta 10000.0 head_dim 9 outs(%p : memref<?x8xf32>)
  return
}
