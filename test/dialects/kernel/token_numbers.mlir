// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @token_numbers
// CHECK: kernel.token_numbers [0, 1, 2] outs(%{{.*}} : tensor<?xi32>) -> tensor<?xi32>
// CHECK: kernel.token_numbers [0, -1] outs(%{{.*}} : memref<?xi32>){{$}}
func.func @token_numbers(%o: tensor<?xi32>, %p: memref<?xi32>) {
  %p0 = kernel.token_numbers [0, 1, 2] outs(%o : tensor<?xi32>) -> tensor<?xi32>
  kernel.token_numbers [0, -1] outs(%p : memref<?xi32>)
  return
}
