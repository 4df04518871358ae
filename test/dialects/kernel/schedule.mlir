// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @schedule
// CHECK: kernel.schedule "branch_scale" of %{{.*}} from 0.000000e+00 to 1.000000e+00 over 1000 outs(%{{.*}} : tensor<1xf32>) : tensor<1xi32> -> tensor<1xf32>
// CHECK: kernel.schedule "skip_scale" of %{{.*}} from 0.30000000000000004 to 0.70710678118654757 over 7 outs(%{{.*}} : memref<1xf32>) : memref<1xi32>{{$}}
func.func @schedule(%step: tensor<1xi32>, %o: tensor<1xf32>, %b: memref<1xi32>, %p: memref<1xf32>) {
  %s = kernel.schedule "branch_scale" of %step from 0.0 to 1.0 over 1000 outs(%o : tensor<1xf32>) : tensor<1xi32> -> tensor<1xf32>
  kernel.schedule "skip_scale" of %b from 0.30000000000000004 to 0.70710678118654757 over 7 outs(%p : memref<1xf32>) : memref<1xi32>
  return
}
