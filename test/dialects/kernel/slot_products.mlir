// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @slot_products
// CHECK: kernel.slot_products %{{.*}}, %{{.*}} place %{{.*}} : tensor<?xi32> outs(%{{.*}} : tensor<?x2xf32>) : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x2xf32>
func.func @slot_products(%y: tensor<?x8xf32>, %g: tensor<?x8xf32>, %p: tensor<?xi32>, %o: tensor<?x2xf32>) {
  %0 = kernel.slot_products %y, %g place %p : tensor<?xi32> outs(%o : tensor<?x2xf32>) : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x2xf32>
  return
}
