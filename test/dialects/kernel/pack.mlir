// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @pack
// CHECK: kernel.pack %{{.*}} transposed outs(%{{.*}} : tensor<8x16xf32>) : tensor<16x8xf32> -> tensor<8x16xf32>
// CHECK: kernel.pack %{{.*}} outs(%{{.*}} : memref<1x8x48xf32>) : memref<16x8xf32>{{$}}
func.func @pack(%w: tensor<16x8xf32>, %o: tensor<8x16xf32>, %m: memref<16x8xf32>, %p: memref<1x8x48xf32>) -> tensor<8x16xf32> {
  %t = kernel.pack %w transposed outs(%o : tensor<8x16xf32>) : tensor<16x8xf32> -> tensor<8x16xf32>
  kernel.pack %m outs(%p : memref<1x8x48xf32>) : memref<16x8xf32>
  return %t : tensor<8x16xf32>
}

// CHECK-LABEL: @pack_experts
// CHECK: kernel.pack %{{.*}} transposed starts %{{.*}} : tensor<5xi32> outs(%{{.*}} : tensor<4x1x16x48xf32>) : tensor<4x16x8xf32> -> tensor<4x1x16x48xf32>
func.func @pack_experts(%w: tensor<4x16x8xf32>, %s: tensor<5xi32>, %o: tensor<4x1x16x48xf32>) -> tensor<4x1x16x48xf32> {
  %t = kernel.pack %w transposed starts %s : tensor<5xi32> outs(%o : tensor<4x1x16x48xf32>) : tensor<4x16x8xf32> -> tensor<4x1x16x48xf32>
  return %t : tensor<4x1x16x48xf32>
}
