// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @balance
// CHECK: kernel.route_shares %{{.*}} place %{{.*}} : tensor<?xi32> starts %{{.*}} : tensor<5xi32> k 2 outs(%{{.*}} : tensor<?x8xf32>) : tensor<?x4xf32> -> tensor<?x8xf32>
// CHECK: kernel.balance_loss %{{.*}}, %{{.*}} key_mask %{{.*}} : tensor<?xi32> outs(%{{.*}}, %{{.*}} : tensor<?x1xf32>, tensor<?x8xf32>) k 2 factor 5.000000e-01 : tensor<?x1xf32>, tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
// CHECK: kernel.shares_gradient %{{.*}} at %{{.*}} outs(%{{.*}} : tensor<?x4xf32>) : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
func.func @balance(%l: tensor<?x4xf32>, %p: tensor<?xi32>, %s: tensor<5xi32>, %x: tensor<?x1xf32>, %m: tensor<?xi32>, %o: tensor<?x8xf32>) {
  %0 = kernel.route_shares %l place %p : tensor<?xi32> starts %s : tensor<5xi32> k 2 outs(%o : tensor<?x8xf32>) : tensor<?x4xf32> -> tensor<?x8xf32>
  %1, %2 = kernel.balance_loss %x, %0 key_mask %m : tensor<?xi32> outs(%x, %o : tensor<?x1xf32>, tensor<?x8xf32>) k 2 factor 0.5
    : tensor<?x1xf32>, tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
  %3 = kernel.shares_gradient %2 at %l outs(%l : tensor<?x4xf32>) : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return
}
