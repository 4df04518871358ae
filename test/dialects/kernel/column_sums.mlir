// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @column_sums
// CHECK: kernel.column_sums ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>) outs(%{{.*}} : tensor<8xf32>) {
// CHECK: } -> tensor<8xf32>
func.func @column_sums(%gy: tensor<?x8xf32>, %hat: tensor<?x8xf32>, %g: tensor<8xf32>) {
  %b = kernel.column_sums ins(%gy, %hat : tensor<?x8xf32>, tensor<?x8xf32>) outs(%g : tensor<8xf32>) {
  ^bb0(%a: f32, %h: f32):
    %0 = arith.mulf %a, %h : f32
    kernel.yield %0 : f32
  } -> tensor<8xf32>
  return
}
