// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @column_sums
// CHECK: kernel.column_sums ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>) outs(%{{.*}} : tensor<8xf32>) {
// CHECK: } -> tensor<8xf32>
// CHECK: kernel.column_sums ins(%{{.*}} : tensor<?x8xf32>) outs(%{{.*}} : tensor<2xf32>) {
// CHECK: kernel.column_sums ins(%{{.*}} : tensor<?x8xf32>) outs(%{{.*}} : tensor<3x2xf32>) to [0, 1, 2, 3, 4, 5, 5, 0] {
func.func @column_sums(%gy: tensor<?x8xf32>, %hat: tensor<?x8xf32>, %g: tensor<8xf32>, %p: tensor<2xf32>, %t: tensor<3x2xf32>) {
  %b = kernel.column_sums ins(%gy, %hat : tensor<?x8xf32>, tensor<?x8xf32>) outs(%g : tensor<8xf32>) {
  ^bb0(%a: f32, %h: f32):
    %0 = arith.mulf %a, %h : f32
    kernel.yield %0 : f32
  } -> tensor<8xf32>
  %c = kernel.column_sums ins(%gy : tensor<?x8xf32>) outs(%p : tensor<2xf32>) {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<2xf32>
  %d = kernel.column_sums ins(%gy : tensor<?x8xf32>) outs(%t : tensor<3x2xf32>) to [0, 1, 2, 3, 4, 5, 5, 0] {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<3x2xf32>
  return
}
