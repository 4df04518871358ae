// A loss that balances experts: layers add what their rows have chosen to one sum, whose
// gradient each of them reads on the way back. Segments that are computed again do not
// add to it again. `eval` is without it.
// RUN: %mille-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(transformer.model(differentiate{of=y}))' | FileCheck %s
// RUN: %refuses 1 %mille-opt %s --split-input-file --pass-pipeline='builtin.module(transformer.model(differentiate{of=y recompute=segment:1}))' 2>/dev/null | FileCheck %s --check-prefix=SEGMENT

// CHECK-LABEL: func.func @eval
// CHECK-NOT: transformer.balance_loss
// CHECK-LABEL: func.func @train_step
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x?x8xf32> {transformer.name = "x"}, %[[M:[a-z0-9]+]]: tensor<?x?xi32> {transformer.name = "attention_mask"}
// CHECK: %[[O:.*]] = transformer.layers %[[X]]
// CHECK: %[[L:.*]] = transformer.linear %{{.*}} weight @r
// CHECK: %[[E:.*]], %{{.*}} = transformer.route %[[L]]
// CHECK: %[[S:.*]] = transformer.route_shares %[[L]] to %[[E]] : tensor<?x?x3xf32>, tensor<?x?x2xi32> -> tensor<?x?x6xf32>
// CHECK: transformer.collect %[[S]] like %[[X]] into "balance"
// CHECK: %[[C:.*]], %{{.*}} = transformer.cross_entropy %[[O]]
// CHECK: %[[B:.*]] = transformer.collected "balance" like %[[X]] : tensor<?x?x8xf32> -> tensor<?x?x6xf32>
// CHECK: %[[T:.*]], %[[G:.*]] = transformer.balance_loss %[[C]], %[[B]] key_mask %[[M]] : tensor<?x?xi32> k 2 factor 1.000000e-02
// CHECK: transformer.layers %{{.*}} reverse
// CHECK: %[[Z:.*]] = transformer.saved "r"
// CHECK: %[[D:.*]] = transformer.shares_gradient %[[G]] at %[[Z]]
// CHECK: transformer.weight_gradient %{{.*}} weight @r
// CHECK: return %[[T]]

// SEGMENT-LABEL: func.func @train_step
// SEGMENT: transformer.collect
// SEGMENT: transformer.collect
// SEGMENT: transformer.collected
// SEGMENT-NOT: transformer.collect {{.*}}
// SEGMENT: transformer.shares_gradient
// SEGMENT-NOT: transformer.collect {{.*}}
// SEGMENT: return
transformer.model @m attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0, expert_balance = 0.01,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = []}} {
  transformer.parameter @r : tensor<3x8xf32> = #transformer.stored<"f", "r", tensor<3x8xf32>>
  transformer.parameter @w : tensor<3x8x8xf32> = #transformer.stored<"f", "w", tensor<3x8x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}, %m: tensor<?x?xi32> {transformer.name = "attention_mask"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %y = transformer.layers %x slots [[]] bodies [0, 0] table [[], []] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %l = transformer.linear %s weight @r : tensor<?x?x8xf32> -> tensor<?x?x3xf32>
      %e, %p = transformer.route %l k 2 score softmax : tensor<?x?x3xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
      %d = transformer.dispatch %s to %e : tensor<?x?x8xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x8xf32>
      %h = transformer.linear %d experts %e : tensor<?x?x2xi32> weight @w : tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
      %c = transformer.combine %h times %p : tensor<?x?x2xf32> : tensor<?x?x2x8xf32> -> tensor<?x?x8xf32>
      transformer.yield %c : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @none attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0, expert_balance = 0.01,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = []}} {
  transformer.parameter @r : tensor<3x8xf32> = #transformer.stored<"f", "r", tensor<3x8xf32>>
  // expected-error @+1 {{expert_balance is 0.01 but the model has no experts}}
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x3xf32> {transformer.name = "y"}) {
    %l = transformer.linear %x weight @r : tensor<?x?x8xf32> -> tensor<?x?x3xf32>
    return %l : tensor<?x?x3xf32>
  }
}

// -----

transformer.model @counts attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0, expert_balance = 0.01,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = []}} {
  transformer.parameter @r : tensor<3x8xf32> = #transformer.stored<"f", "r", tensor<3x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x3xf32> {transformer.name = "y"}) {
    %l = transformer.linear %x weight @r : tensor<?x?x8xf32> -> tensor<?x?x3xf32>
    %e, %p = transformer.route %l k 2 score softmax : tensor<?x?x3xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    // expected-error @+1 {{expert_balance is 0.01 but layers choose 2 of 3 and 1 of 3 experts}}
    %f, %q = transformer.route %l k 1 score softmax : tensor<?x?x3xf32> -> tensor<?x?x1xi32>, tensor<?x?x1xf32>
    return %l : tensor<?x?x3xf32>
  }
}

// -----

transformer.model @pooled attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0, expert_balance = 0.01,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = []}} {
  transformer.parameter @r : tensor<3x8xf32> = #transformer.stored<"f", "r", tensor<3x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x3xf32> {transformer.name = "y"}) {
    %l = transformer.linear %x weight @r : tensor<?x?x8xf32> -> tensor<?x?x3xf32>
    // expected-error @+1 {{expert_balance is 0.01 but there is no loss for each row of a router}}
    %e, %p = transformer.route %l k 2 score softmax : tensor<?x?x3xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %y = transformer.pool %l by first : tensor<?x?x3xf32> -> tensor<?x3xf32>
    return %y : tensor<?x3xf32>
  }
}
