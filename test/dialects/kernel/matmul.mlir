// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @matmul
// CHECK: kernel.matmul %{{.*}}, %{{.*}} extras(%{{.*}} : tensor<16xf32>) outs(%{{.*}} : tensor<?x16xf32>) accumulators 1 {
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK: arith.addf %[[ACC]], %[[BIAS]]
// CHECK: } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
func.func @matmul(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>, %o: tensor<?x16xf32>) {
  %y = kernel.matmul %x, %w extras(%b : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%acc: f32, %bias: f32):
    %0 = arith.addf %acc, %bias : f32
    kernel.yield %0 : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// Packed, two accumulators: 20 columns are in one panel of 2 * 32.
// CHECK-LABEL: @packed
// CHECK: accumulators 2 {
// CHECK: } : memref<?x8xf32>, memref<1x8x64xf32>{{$}}
func.func @packed(%x: memref<?x8xf32>, %w: memref<1x8x64xf32>, %r: memref<?x20xf32>, %s: memref<1xf32>, %m: memref<?x1xf32>, %o: memref<?x20xf32>) {
  kernel.matmul %x, %w extras(%r, %s, %m : memref<?x20xf32>, memref<1xf32>, memref<?x1xf32>) outs(%o : memref<?x20xf32>) accumulators 2 {
  ^bb0(%gate: f32, %up: f32, %rest: f32, %scale: f32, %row: f32):
    %0 = arith.mulf %gate, %up : f32
    kernel.yield %0 : f32
  } : memref<?x8xf32>, memref<1x8x64xf32>
  return
}
