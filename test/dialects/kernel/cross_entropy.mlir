// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @cross_entropy
// CHECK: kernel.cross_entropy %{{.*}} labels %{{.*}} : tensor<?xi32> times %{{.*}} : tensor<1xf32> losses(%{{.*}} : tensor<?x1xf32>) gradient(%{{.*}} : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
// CHECK: gradient(%{{.*}} : tensor<?x8xf32>) smoothing 1.000000e-01 :
func.func @cross_entropy(%z: tensor<?x8xf32>, %y: tensor<?xi32>, %t: tensor<1xf32>, %a: tensor<?x1xf32>, %b: tensor<?x8xf32>) -> (tensor<?x1xf32>, tensor<?x8xf32>) {
  %l, %g = kernel.cross_entropy %z labels %y : tensor<?xi32> times %t : tensor<1xf32>
    losses(%a : tensor<?x1xf32>) gradient(%b : tensor<?x8xf32>)
    : tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
  %m, %h = kernel.cross_entropy %z labels %y : tensor<?xi32> times %t : tensor<1xf32>
    losses(%a : tensor<?x1xf32>) gradient(%b : tensor<?x8xf32>) smoothing 0.1
    : tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
  return %l, %h : tensor<?x1xf32>, tensor<?x8xf32>
}
