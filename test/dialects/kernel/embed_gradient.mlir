// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @embed_gradient
// CHECK: kernel.embed_gradient %{{.*}} at %{{.*}} outs(%{{.*}} : tensor<32x8xf32>) : tensor<?x8xf32>, tensor<?xi32> -> tensor<32x8xf32>
func.func @embed_gradient(%gy: tensor<?x8xf32>, %ids: tensor<?xi32>, %g: tensor<32x8xf32>) {
  %w = kernel.embed_gradient %gy at %ids outs(%g : tensor<32x8xf32>)
    : tensor<?x8xf32>, tensor<?xi32> -> tensor<32x8xf32>
  return
}

// CHECK-LABEL: @embed_gradient_of_one_entry
// CHECK: kernel.embed_gradient {{.*}} -> tensor<1x8xf32>
func.func @embed_gradient_of_one_entry(%gy: tensor<?x8xf32>, %ids: tensor<?xi32>, %g: tensor<1x8xf32>) {
  %w = kernel.embed_gradient %gy at %ids outs(%g : tensor<1x8xf32>)
    : tensor<?x8xf32>, tensor<?xi32> -> tensor<1x8xf32>
  return
}
