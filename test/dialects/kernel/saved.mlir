// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @saved
// CHECK: kernel.layers %{{.*}} slots
// CHECK: kernel.save %{{.*}} as "x" : tensor<?x8xf32>
// CHECK: kernel.layers %{{.*}} reverse slots
// CHECK: kernel.saved "x" rows %{{.*}} -> tensor<?x8xf32>
// CHECK: kernel.gradient @"layers.*.w" -> tensor<8xf32>
func.func @saved(%x: tensor<?x8xf32>, %rows: index) {
  %y = kernel.layers %x slots [["layers.*.w"]] bodies [0, 0] table [[@a], [@b]] {
  ^bb0(%s: tensor<?x8xf32>):
    kernel.save %s as "x" : tensor<?x8xf32>
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  %z = kernel.layers %y reverse slots [["layers.*.w"]] bodies [0, 0] table [[@a], [@b]] {
  ^bb0(%s: tensor<?x8xf32>):
    %h = kernel.saved "x" rows %rows -> tensor<?x8xf32>
    %g = kernel.gradient @"layers.*.w" -> tensor<8xf32>
    kernel.yield %h : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @per_layer
// CHECK: kernel.arena offset 64 per_layer 128 rows
func.func @per_layer(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %rows: index) {
  kernel.layers %x, %y slots [[]] bodies [0, 0] table [[], []] {
  ^bb0(%s: memref<?x8xf32>, %t: memref<?x8xf32>):
    %b = kernel.arena offset 64 per_layer 128 rows %rows : memref<?x8xf32, strided<[16, 1]>>
    kernel.yield
  } : memref<?x8xf32>, memref<?x8xf32>
  return
}
