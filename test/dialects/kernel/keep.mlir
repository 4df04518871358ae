// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @keep
// CHECK: kernel.keep %{{.*}} as "hidden_states" index 1 : tensor<?x8xf32>
// CHECK: kernel.keep %{{.*}} as "hidden_states" index 0 : memref<?x8xf32>
func.func @keep(%x: tensor<?x8xf32>, %b: memref<?x8xf32>) {
  kernel.keep %x as "hidden_states" index 1 : tensor<?x8xf32>
  kernel.keep %b as "hidden_states" index 0 : memref<?x8xf32>
  return
}
