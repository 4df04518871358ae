// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @dropout
// CHECK: kernel.dropout %{{.*}} step %{{.*}} first %{{.*}} tokens %{{.*}} rate 1.000000e-01 seed 1 site 3 after 12 outs(%{{.*}} : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<1xi32>, tensor<1xi32> -> tensor<?x8xf32>
func.func @dropout(%x: tensor<?x8xf32>, %n: tensor<1xi32>, %t: index) {
  %0 = kernel.dropout %x step %n first %n tokens %t rate 0.1 seed 1 site 3 after 12 outs(%x : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<1xi32>, tensor<1xi32> -> tensor<?x8xf32>
  return
}
