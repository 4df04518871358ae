// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @layers
// CHECK: kernel.layers %{{.*}} slots {{\[\[}}"layers.*.w"]] bodies [0, 0] table {{\[\[}}@a], [@b]] {
// CHECK: } : tensor<?x8xf32> -> tensor<?x8xf32>
func.func @layers(%x: tensor<?x8xf32>) {
  %y = kernel.layers %x slots [["layers.*.w"]] bodies [0, 0] table [[@a], [@b]] {
  ^bb0(%s: tensor<?x8xf32>):
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @planned
// CHECK: kernel.layers %{{.*}}, %{{.*}} slots
// CHECK: ^bb0(%{{.*}}: memref<?x8xf32>, %{{.*}}: memref<?x8xf32>):
// CHECK-NEXT: kernel.yield
func.func @planned(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  kernel.layers %x, %y slots [[]] bodies [0, 0] table [[], []] {
  ^bb0(%s: memref<?x8xf32>, %t: memref<?x8xf32>):
    kernel.yield
  } : memref<?x8xf32>, memref<?x8xf32>
  return
}
