// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @rows
// CHECK: kernel.rows ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<8xf32>) outs(%{{.*}} : tensor<?x8xf32>) gather [-1, -1] norm <rms, 1.0e-06> {
// CHECK: } -> tensor<?x8xf32>
// CHECK: kernel.rows ins(%{{.*}} : tensor<64x8xf32>) indices(%{{.*}} : tensor<?xi32>) outs(%{{.*}} : tensor<?x8xf32>) gather [0] {
func.func @rows(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %o: tensor<?x8xf32>, %table: tensor<64x8xf32>, %ids: tensor<?xi32>) {
  %y = kernel.rows ins(%x, %w : tensor<?x8xf32>, tensor<8xf32>) outs(%o : tensor<?x8xf32>)
      gather [-1, -1] norm <rms, 1.000000e-06> {
  ^bb0(%n: f32, %g: f32):
    %0 = arith.mulf %n, %g : f32
    kernel.yield %0 : f32
  } -> tensor<?x8xf32>
  %z = kernel.rows ins(%table : tensor<64x8xf32>) indices(%ids : tensor<?xi32>) outs(%o : tensor<?x8xf32>) gather [0] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x8xf32>
  return
}

// A norm may have no epsilon.
// CHECK-LABEL: @norm_without_eps
// CHECK: norm <rms, 0.0{{.*}}>
func.func @norm_without_eps(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  %y = kernel.rows ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] norm <rms, 0.000000e+00> {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x8xf32>
  return
}
