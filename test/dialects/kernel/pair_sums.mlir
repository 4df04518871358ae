// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @pair_sums
// CHECK: kernel.pair_sums %{{.*}} index [0, 1, 1, 0] outs(%{{.*}} : tensor<2x4xf32>) : tensor<?x8xf32> -> tensor<2x4xf32>
// CHECK: kernel.pair_sums %{{.*}} index [0] outs(%{{.*}} : memref<1x8xf32>) : memref<?x8xf32>{{$}}
func.func @pair_sums(%g: tensor<?x8xf32>, %w: tensor<2x4xf32>, %b: memref<?x8xf32>, %o: memref<1x8xf32>) {
  %t = kernel.pair_sums %g index [0, 1, 1, 0] outs(%w : tensor<2x4xf32>) : tensor<?x8xf32> -> tensor<2x4xf32>
  kernel.pair_sums %b index [0] outs(%o : memref<1x8xf32>) : memref<?x8xf32>
  return
}
