// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: func.func @remember
// CHECK-SAME: %[[KEYS:[a-z0-9]+]]: tensor<2x?x?x8xf32> {transformer.state}
// CHECK-SAME: %[[SEEN:[a-z0-9]+]]: tensor<1x?x?x1xi32> {transformer.state}
// CHECK: %[[P:.*]] = transformer.positions %[[PAST:[a-z0-9]+]] like %{{.*}} : tensor<?xi32>, tensor<?x?xi32> -> tensor<?x?xi32>
// CHECK: transformer.remember %{{.*}} in %[[KEYS]] index 1 past %[[PAST]] : tensor<?x?x8xf32>, tensor<2x?x?x8xf32>, tensor<?xi32> -> tensor<?x?x8xf32>
// CHECK: transformer.remember %[[P]] in %[[SEEN]] index 0 past %[[PAST]] : tensor<?x?xi32>, tensor<1x?x?x1xi32>, tensor<?xi32> -> tensor<?x?xi32>
func.func @remember(%k: tensor<?x?x8xf32>, %ids: tensor<?x?xi32>, %keys: tensor<2x?x?x8xf32> {transformer.state},
    %seen: tensor<1x?x?x1xi32> {transformer.state}, %past: tensor<?xi32>) {
  %p = transformer.positions %past like %ids : tensor<?xi32>, tensor<?x?xi32> -> tensor<?x?xi32>
  %all = transformer.remember %k in %keys index 1 past %past : tensor<?x?x8xf32>, tensor<2x?x?x8xf32>, tensor<?xi32> -> tensor<?x?x8xf32>
  %known = transformer.remember %p in %seen index 0 past %past : tensor<?x?xi32>, tensor<1x?x?x1xi32>, tensor<?xi32> -> tensor<?x?xi32>
  return
}

// Without a past from the first row on; another entry recalls it.
// CHECK-LABEL: func.func @anew
// CHECK: transformer.remember %{{.*}} in %[[KEYS:[a-z0-9]+]] index 1 : tensor<?x?x8xf32>, tensor<2x?x?x8xf32> -> tensor<?x?x8xf32>
func.func @anew(%k: tensor<?x?x8xf32>, %keys: tensor<2x?x?x8xf32> {transformer.state}) {
  %all = transformer.remember %k in %keys index 1 : tensor<?x?x8xf32>, tensor<2x?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: func.func @recall
// CHECK-SAME: %[[KEYS:[a-z0-9]+]]: tensor<2x?x?x8xf32> {transformer.state}
// CHECK: transformer.recall %[[KEYS]] index 1 : tensor<2x?x?x8xf32> -> tensor<?x?x8xf32>
// CHECK: transformer.recall %{{.*}} index 0 : tensor<1x?x?x1xi32> -> tensor<?x?xi32>
func.func @recall(%keys: tensor<2x?x?x8xf32> {transformer.state}, %mask: tensor<1x?x?x1xi32> {transformer.state}) -> (tensor<?x?x8xf32>, tensor<?x?xi32>) {
  %k = transformer.recall %keys index 1 : tensor<2x?x?x8xf32> -> tensor<?x?x8xf32>
  %m = transformer.recall %mask index 0 : tensor<1x?x?x1xi32> -> tensor<?x?xi32>
  return %k, %m : tensor<?x?x8xf32>, tensor<?x?xi32>
}
