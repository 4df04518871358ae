// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @weight_gradient
// CHECK: kernel.weight_gradient %{{.*}}, %{{.*}} outs(%{{.*}} : tensor<16x8xf32>) : tensor<?x16xf32>, tensor<?x8xf32> -> tensor<16x8xf32>
// CHECK: kernel.weight_gradient %{{.*}}, %{{.*}} outs(%{{.*}} : memref<16x8xf32>) : memref<?x16xf32>, memref<?x8xf32>{{$}}
func.func @weight_gradient(%gy: tensor<?x16xf32>, %x: tensor<?x8xf32>, %g: tensor<16x8xf32>, %gm: memref<?x16xf32>, %xm: memref<?x8xf32>, %om: memref<16x8xf32>) {
  %w = kernel.weight_gradient %gy, %x outs(%g : tensor<16x8xf32>)
    : tensor<?x16xf32>, tensor<?x8xf32> -> tensor<16x8xf32>
  kernel.weight_gradient %gm, %xm outs(%om : memref<16x8xf32>) : memref<?x16xf32>, memref<?x8xf32>
  return
}

// CHECK-LABEL: @weight_gradient_of_experts
// CHECK: kernel.weight_gradient %{{.*}}, %{{.*}} starts %{{.*}} : tensor<5xi32> outs(%{{.*}} : tensor<4x16x8xf32>) : tensor<?x16xbf16>, tensor<?x8xbf16> -> tensor<4x16x8xf32>
func.func @weight_gradient_of_experts(%gy: tensor<?x16xbf16>, %x: tensor<?x8xbf16>, %s: tensor<5xi32>, %g: tensor<4x16x8xf32>) {
  %w = kernel.weight_gradient %gy, %x starts %s : tensor<5xi32> outs(%g : tensor<4x16x8xf32>)
    : tensor<?x16xbf16>, tensor<?x8xbf16> -> tensor<4x16x8xf32>
  return
}
