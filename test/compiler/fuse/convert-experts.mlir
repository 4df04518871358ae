// RUN: %mille-opt %s --convert-to-kernel --split-input-file | FileCheck %s
// RUN: %mille-opt %s --convert-to-kernel --split-input-file > %t.once
// RUN: %mille-opt %s --convert-to-kernel --convert-to-kernel --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// Rows are sent to places sorted by expert; products take the expert's weight and
// bias; the sum over a row's slots brings the order back.
// CHECK-LABEL: transformer.model @experts
// CHECK: %[[ROWS:.*]] = arith.muli
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[SLOTS:.*]] = arith.muli %[[ROWS]], %[[TWO]]
// CHECK: %[[R:.*]]:4 = kernel.route %[[X:.*]] selection_bias %{{.*}} : tensor<3xf32> outs({{.*}} : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<4xi32>) k 2 score sigmoid groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 9.99{{.*}}E-21 factor 2.000000e+00
// CHECK: %[[D:.*]] = tensor.empty(%[[SLOTS]]) : tensor<?x4xf32>
// CHECK: %[[S:.*]] = kernel.dispatch %[[Y:.*]] order %[[R]]#1 : tensor<?xi32> place %[[R]]#2 : tensor<?xi32> outs(%[[D]] : tensor<?x4xf32>) k 2
// CHECK: %[[L:.*]] = kernel.matmul %[[S]], %[[W:.*]] starts %[[R]]#3 : tensor<4xi32> extras(%[[B:.*]] : tensor<3x4xf32>) outs
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK: arith.addf %[[ACC]], %[[BIAS]]
// CHECK: %[[A:.*]] = kernel.rows ins(%[[L]] : tensor<?x4xf32>)
// CHECK: kernel.combine %[[A]] place %[[R]]#2 : tensor<?xi32> times %[[R]]#0 : tensor<?x2xf32> outs({{.*}}) k 2
transformer.model @experts {
  transformer.parameter @b : tensor<3xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "b", tensor<3xf32>>
  transformer.parameter @up : tensor<3x4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "up", tensor<3x4x4xf32>>
  transformer.parameter @up_bias : tensor<3x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "up_bias", tensor<3x4xf32>>
  func.func @forward(%x: tensor<?x?x3xf32> {transformer.name = "x"}, %z: tensor<?x?x4xf32> {transformer.name = "z"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %e, %w = transformer.route %x k 2 score sigmoid selection_bias @b renormalised true epsilon 1.0e-20 factor 2.0 : tensor<?x?x3xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %s = transformer.dispatch %z to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
    %l = transformer.linear %s experts %e : tensor<?x?x2xi32> weight @up bias @up_bias : tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
    %a = transformer.activate %l by silu : tensor<?x?x2x4xf32>
    %y = transformer.combine %a times %w : tensor<?x?x2xf32> : tensor<?x?x2x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Llama 4 weighs the rows that are sent, not those that come back.
// CHECK-LABEL: transformer.model @weights_first
// CHECK: kernel.dispatch %{{.*}} times %[[W:.*]]#0 : tensor<?x1xf32> outs
// CHECK: kernel.combine
// CHECK-NOT: times
// CHECK: return
transformer.model @weights_first {
  func.func @forward(%x: tensor<?x?x3xf32> {transformer.name = "x"}, %z: tensor<?x?x4xf32> {transformer.name = "z"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %e, %w = transformer.route %x k 1 score sigmoid : tensor<?x?x3xf32> -> tensor<?x?x1xi32>, tensor<?x?x1xf32>
    %s = transformer.dispatch %z to %e times %w : tensor<?x?x1xf32> : tensor<?x?x4xf32>, tensor<?x?x1xi32> -> tensor<?x?x1x4xf32>
    %y = transformer.combine %s : tensor<?x?x1x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}
