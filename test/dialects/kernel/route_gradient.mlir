// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @route_gradient
// CHECK: kernel.route_gradient %{{.*}} at %{{.*}} place %{{.*}} : tensor<?xi32> starts %{{.*}} : tensor<5xi32> outs(%{{.*}} : tensor<?x4xf32>) score sigmoid renormalised true softmax_chosen false epsilon 9.99{{.*}}E-21 factor 2.500000e+00 : tensor<?x2xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
func.func @route_gradient(%g: tensor<?x2xf32>, %l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %o: tensor<?x4xf32>) {
  %0 = kernel.route_gradient %g at %l place %p : tensor<?xi32> starts %s : tensor<5xi32> outs(%o : tensor<?x4xf32>)
    score sigmoid renormalised true softmax_chosen false epsilon 1.0e-20 factor 2.5 : tensor<?x2xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return
}
