// What all layers read from outside: a stream's gradient is a sum that each layer
// adds to, a bias of scores adds its own to its table in each layer.
// RUN: %mille-opt %s --split-input-file --pass-pipeline='builtin.module(transformer.model(differentiate{of=out loss=given}))' | FileCheck %s

// CHECK-LABEL: func.func @train_step
// CHECK: %[[E:.*]] = transformer.linear %[[X:.*]] weight @w
// CHECK: transformer.layers %{{.*}} reverse
// CHECK: ^bb0(%[[G:.*]]: tensor<?x?x8xf32>):
// CHECK: transformer.collect %[[G]] like %[[E]] into "outside.0" : tensor<?x?x8xf32>, tensor<?x?x8xf32>
// CHECK: %[[S:.*]] = transformer.collected "outside.0" like %[[E]] : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
// CHECK: transformer.weight_gradient %[[S]], %[[X]] weight @w
transformer.model @stream {
  transformer.parameter @w : tensor<8x8xf32> = #transformer.stored<"f", "w", tensor<8x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "out"}) {
    %0 = transformer.linear %x weight @w : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    %y = transformer.layers %x slots [[]] bodies [0, 0] table [[], []] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %1 = transformer.add %s, %0 : tensor<?x?x8xf32>
      transformer.yield %1 : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}

// -----

// CHECK-LABEL: func.func @train_step
// CHECK: transformer.layers %{{.*}} reverse
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[B:.*]] = transformer.attend_gradient
// CHECK-SAME: bias_gradients [0] -> tensor<?x2x?x?xf32>
// CHECK: transformer.bias_gradient %[[B]] to @t buckets [1, 0, 2] : tensor<?x2x?x?xf32>
// CHECK-NOT: transformer.collect
transformer.model @bias {
  transformer.parameter @t : tensor<3x2xf32> = #transformer.stored<"f", "t", tensor<3x2xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "out"}) {
    %b = transformer.distance_bias %x table @t buckets [1, 0, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    %y = transformer.layers %x slots [[]] bodies [0, 0] table [[], []] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %1 = transformer.attend %s, %s, %s bias %b : tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5 mask causal
        : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
      transformer.yield %1 : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}
