// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @combine
// CHECK: kernel.combine %{{.*}} place %{{.*}} : tensor<?xi32> outs(%{{.*}} : tensor<?x8xf32>) k 2 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: kernel.combine %{{.*}} place %{{.*}} : memref<?xi32> times %{{.*}} : memref<?x2xf32> outs(%{{.*}} : memref<?x8xf32>) k 2 : memref<?x8xf32>{{$}}
func.func @combine(%x: tensor<?x8xf32>, %i: tensor<?xi32>, %o: tensor<?x8xf32>, %xm: memref<?x8xf32>, %im: memref<?xi32>, %wm: memref<?x2xf32>, %om: memref<?x8xf32>) {
  %y = kernel.combine %x place %i : tensor<?xi32> outs(%o : tensor<?x8xf32>) k 2 : tensor<?x8xf32> -> tensor<?x8xf32>
  kernel.combine %xm place %im : memref<?xi32> times %wm : memref<?x2xf32> outs(%om : memref<?x8xf32>) k 2 : memref<?x8xf32>
  return
}
