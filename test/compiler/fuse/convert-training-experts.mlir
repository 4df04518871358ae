// RUN: %mille-opt %s --split-input-file --convert-to-kernel | FileCheck %s
// RUN: %mille-opt %s --split-input-file --convert-to-kernel > %t.once
// RUN: %mille-opt %s --split-input-file --convert-to-kernel --convert-to-kernel > %t.twice
// RUN: diff %t.once %t.twice

// Experts' weights are packed where they have rows; gradients take the rows of each
// expert, that of a bias as that of a table with a row for each.
// CHECK-LABEL: func.func @train_step
// CHECK: %[[R:.*]]:4 = kernel.route %[[X:.*]] outs
// CHECK: %[[S:.*]] = kernel.dispatch %[[Z:.*]] order %[[R]]#1
// CHECK: %[[P:.*]] = kernel.pack %{{.*}} starts %[[R]]#3 : tensor<4xi32> outs(%{{.*}} : tensor<3x5x4xf32>) : tensor<3x5x4xf32>
// CHECK: %[[L:.*]] = kernel.matmul %[[S]], %[[P]] starts %[[R]]#3 : tensor<4xi32> extras(%{{.*}} : tensor<3x5xf32>)
// CHECK: %[[G:.*]] = kernel.gradient @w -> tensor<3x5x4xf32>
// CHECK: kernel.weight_gradient %[[L]], %[[S]] starts %[[R]]#3 : tensor<4xi32> outs(%[[G]] : tensor<3x5x4xf32>)
// CHECK: %[[B:.*]] = kernel.gradient @b -> tensor<3x5xf32>
// CHECK: %[[E:.*]] = kernel.experts %[[R]]#3
// CHECK: kernel.embed_gradient %[[L]] at %[[E]] outs(%[[B]] : tensor<3x5xf32>)
// CHECK: %[[T:.*]] = kernel.pack %{{.*}} transposed starts %[[R]]#3 : tensor<4xi32> outs(%{{.*}} : tensor<3x4x5xf32>) : tensor<3x5x4xf32>
// CHECK: %[[D:.*]] = kernel.matmul %[[L]], %[[T]] starts %[[R]]#3
// CHECK: %[[W:.*]] = kernel.slot_products %[[D]], %[[Z]] place %[[R]]#2 : tensor<?xi32> outs(%{{.*}} : tensor<?x2xf32>)
// CHECK: kernel.route_gradient %[[W]] at %[[X]] place %[[R]]#2 : tensor<?xi32> starts %[[R]]#3 : tensor<4xi32> outs(%{{.*}} : tensor<?x3xf32>) score sigmoid renormalised true softmax_chosen false epsilon {{.*}} factor 2.000000e+00
transformer.model @m {
  transformer.parameter @w : tensor<3x5x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "w", tensor<3x5x4xf32>>
  transformer.parameter @b : tensor<3x5xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "b", tensor<3x5xf32>>
  func.func @train_step(%x: tensor<?x?x3xf32> {transformer.name = "x"}, %z: tensor<?x?x4xf32> {transformer.name = "z"}) -> (tensor<?x?x3xf32> {transformer.name = "y"}) {
    %e, %w = transformer.route %x k 2 score sigmoid renormalised true epsilon 1.0e-20 factor 2.0 : tensor<?x?x3xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %s = transformer.dispatch %z to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
    %l = transformer.linear %s experts %e : tensor<?x?x2xi32> weight @w bias @b : tensor<?x?x2x4xf32> -> tensor<?x?x2x5xf32>
    transformer.weight_gradient %l, %s experts %e : tensor<?x?x2xi32> weight @w bias @b : tensor<?x?x2x5xf32>, tensor<?x?x2x4xf32>
    %d = transformer.linear %l experts %e : tensor<?x?x2xi32> weight @w transposed : tensor<?x?x2x5xf32> -> tensor<?x?x2x4xf32>
    %gw = transformer.slot_products %d, %z : tensor<?x?x2x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x2xf32>
    %y = transformer.route_gradient %gw at %x to %e score sigmoid renormalised true epsilon 1.0e-20 factor 2.0
      : tensor<?x?x2xf32>, tensor<?x?x3xf32>, tensor<?x?x2xi32>
    return %y : tensor<?x?x3xf32>
  }
}

// -----

// What rows have chosen is summed over loops and what stands between them: the second
// loop begins where the first one ends.
// CHECK-LABEL: func.func @train_step
// CHECK: %[[Z:.*]] = kernel.rows ins(%{{.*}} : tensor<1xf32>) outs(%{{.*}} : tensor<?x6xf32>)
// CHECK: %[[A:.*]]:2 = kernel.layers %{{.*}}, %[[Z]]
// CHECK: ^bb0(%[[Y:.*]]: tensor<?x3xf32>, %[[SUM:.*]]: tensor<?x6xf32>):
// CHECK: %[[R:.*]]:4 = kernel.route %[[Y]]
// CHECK: %[[S:.*]] = kernel.route_shares %[[Y]] place %[[R]]#2 : tensor<?xi32> starts %[[R]]#3 : tensor<4xi32> k 2
// CHECK: %[[NEXT:.*]] = kernel.rows ins(%[[SUM]], %[[S]] : tensor<?x6xf32>, tensor<?x6xf32>)
// CHECK: kernel.yield %[[Y]], %[[NEXT]]
// CHECK: %[[B:.*]]:2 = kernel.layers %[[A]]#0, %[[A]]#1
// CHECK: %[[L:.*]]:2 = kernel.balance_loss %{{.*}}, %[[B]]#1 key_mask %{{.*}} : tensor<?xi32> outs(%{{.*}}, %{{.*}} : tensor<?x1xf32>, tensor<?x6xf32>) k 2 factor 5.000000e-01
// CHECK: kernel.shares_gradient %[[L]]#1 at %[[B]]#0 outs(%{{.*}} : tensor<?x3xf32>)
transformer.model @balance {
  func.func @train_step(%x: tensor<?x?x3xf32> {transformer.name = "x"}, %m: tensor<?x?xi32> {transformer.name = "m"}, %c: tensor<?x?xi32> {transformer.name = "labels"},
      %t: tensor<1xf32> {transformer.name = "loss_weight"}) -> (tensor<?x?x3xf32> {transformer.name = "y"}, tensor<?x?xf32> {transformer.name = "losses"}) {
    %y = transformer.layers %x slots [[]] bodies [0, 0] table [[], []] {
    ^bb0(%s: tensor<?x?x3xf32>):
      %e, %w = transformer.route %s k 2 score softmax : tensor<?x?x3xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
      %h = transformer.route_shares %s to %e : tensor<?x?x3xf32>, tensor<?x?x2xi32> -> tensor<?x?x6xf32>
      transformer.collect %h like %x into "balance" : tensor<?x?x6xf32>, tensor<?x?x3xf32>
      transformer.yield %s : tensor<?x?x3xf32>
    } : tensor<?x?x3xf32>
    %z = transformer.layers %y slots [[]] bodies [0, 0] table [[], []] {
    ^bb0(%s: tensor<?x?x3xf32>):
      %e, %w = transformer.route %s k 2 score softmax : tensor<?x?x3xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
      %h = transformer.route_shares %s to %e : tensor<?x?x3xf32>, tensor<?x?x2xi32> -> tensor<?x?x6xf32>
      transformer.collect %h like %y into "balance" : tensor<?x?x6xf32>, tensor<?x?x3xf32>
      transformer.yield %s : tensor<?x?x3xf32>
    } : tensor<?x?x3xf32>
    %l, %g = transformer.cross_entropy %z labels %c weight %t : tensor<?x?x3xf32>, tensor<?x?xi32>, tensor<1xf32> -> tensor<?x?xf32>
    %0 = transformer.collected "balance" like %z : tensor<?x?x3xf32> -> tensor<?x?x6xf32>
    %1, %2 = transformer.balance_loss %l, %0 key_mask %m : tensor<?x?xi32> k 2 factor 0.5 : tensor<?x?xf32>, tensor<?x?x6xf32>
    %3 = transformer.shares_gradient %2 at %z : tensor<?x?x6xf32>, tensor<?x?x3xf32>
    return %3, %1 : tensor<?x?x3xf32>, tensor<?x?xf32>
  }
}
