// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @spread
// CHECK: kernel.spread %{{.*}} from [0, 1, 0, 1] outs(%{{.*}} : tensor<4xf32>) : tensor<2xf32> -> tensor<4xf32>
// CHECK: kernel.spread %{{.*}} from [3, 0] outs(%{{.*}} : memref<1x2xf32>) : memref<2x2xf32>{{$}}
func.func @spread(%w: tensor<2xf32>, %o: tensor<4xf32>, %v: memref<2x2xf32>, %p: memref<1x2xf32>) {
  %0 = kernel.spread %w from [0, 1, 0, 1] outs(%o : tensor<4xf32>) : tensor<2xf32> -> tensor<4xf32>
  kernel.spread %v from [3, 0] outs(%p : memref<1x2xf32>) : memref<2x2xf32>
  return
}
