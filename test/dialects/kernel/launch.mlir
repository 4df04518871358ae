// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @launch
// CHECK: %[[Z:.*]] = kernel.launch {
// CHECK: kernel.matmul
// CHECK: kernel.rows
// CHECK: kernel.yield %{{.*}} : tensor<?x8xf32>
// CHECK: } : tensor<?x8xf32>
// CHECK: return %[[Z]]
func.func @launch(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %o: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %z = kernel.launch {
    %y = kernel.matmul %x, %w outs(%o : tensor<?x8xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
    %n = kernel.rows ins(%y : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] norm <layer, 1.0e-05> {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } -> tensor<?x8xf32>
    kernel.yield %n : tensor<?x8xf32>
  } : tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}
