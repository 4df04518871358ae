// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @alibi
// CHECK: kernel.alibi %{{.*}} slopes [0.5, 0.25] factor 5.000000e-01 outs(%{{.*}} : tensor<?x2xf32>) : tensor<?xi32> -> tensor<?x2xf32>
// CHECK: kernel.alibi %{{.*}} slopes [0.7071067811865476, 0.30000000000000004] factor 0.35355339059327379 outs(%{{.*}} : memref<?x2xf32>) : memref<?xi32>{{$}}
func.func @alibi(%positions: tensor<?xi32>, %o: tensor<?x2xf32>, %b: memref<?xi32>, %p: memref<?x2xf32>) {
  %b0 = kernel.alibi %positions slopes [0.5, 0.25] factor 0.5 outs(%o : tensor<?x2xf32>) : tensor<?xi32> -> tensor<?x2xf32>
  kernel.alibi %b slopes [0.70710678118654757, 0.30000000000000004] factor 0.35355339059327379 outs(%p : memref<?x2xf32>) : memref<?xi32>
  return
}
