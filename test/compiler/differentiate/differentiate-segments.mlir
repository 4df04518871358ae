// Segments of two layers: the first loop saves nothing and comes again, with what
// `cheap` saves, before its reverse; the second is done at once. Masks of dropout
// count the layers before a segment.
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate{recompute=segment:2}))' | FileCheck %s
// As many layers as a segment has: one loop, as with `cheap`.
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate{recompute=segment:3}))' > %t.whole
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate{recompute=cheap}))' | diff - %t.whole

// CHECK-LABEL: func.func @train_step
// CHECK: %[[E:.*]] = transformer.dropout
// CHECK: %[[X:.*]] = transformer.layers %[[E]] slots {{\[}}["layers.*.w"]] bodies [0, 0] table {{\[}}[@w0], [@w1]] {
// CHECK-NOT: transformer.save
// CHECK: transformer.dropout %{{.*}} site 1 :
// CHECK: transformer.layers %[[X]] slots {{\[}}["layers.*.w"]] bodies [0] table {{\[}}[@w2]] saves ["x.2"] {
// CHECK: transformer.save %{{.*}} as "x.2"
// CHECK: transformer.dropout %{{.*}} site 1 after 2 :
// CHECK: transformer.cross_entropy
// CHECK: %[[G:.*]] = transformer.layers %{{.*}} reverse slots {{\[}}["layers.*.w"]] bodies [0] table {{\[}}[@w2]] {
// CHECK: transformer.dropout %{{.*}} site 1 after 2 :
// CHECK: transformer.saved "x.2"
// CHECK: transformer.layers %[[E]] slots {{\[}}["layers.*.w"]] bodies [0, 0] table {{\[}}[@w0], [@w1]] saves ["x"] {
// CHECK: transformer.save %{{.*}} as "x"
// CHECK: transformer.dropout %{{.*}} site 1 :
// CHECK: transformer.layers %[[G]] reverse slots {{\[}}["layers.*.w"]] bodies [0, 0] table {{\[}}[@w0], [@w1]] {
// CHECK: transformer.dropout %{{.*}} site 1 :
// CHECK: transformer.saved "x"
transformer.model @m attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0, dropout = 0.1,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = []}} {
  transformer.parameter @t : tensor<11x8xf32> = #transformer.stored<"f", "t", tensor<11x8xf32>>
  transformer.parameter @w0 : tensor<8x8xf32> = #transformer.stored<"f", "a", tensor<8x8xf32>>
  transformer.parameter @w1 : tensor<8x8xf32> = #transformer.stored<"f", "b", tensor<8x8xf32>>
  transformer.parameter @w2 : tensor<8x8xf32> = #transformer.stored<"f", "c", tensor<8x8xf32>>
  func.func @forward(%ids: tensor<?x?xi32> {transformer.name = "input_ids", transformer.below = 11})
      -> (tensor<?x?x11xf32> {transformer.name = "logits"}) {
    %x = transformer.embed(%ids) tables [@t] offsets [0] : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
    %y = transformer.layers %x slots [["layers.*.w"]] bodies [0, 0, 0] table [[@w0], [@w1], [@w2]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %u = transformer.residual %s {
      ^bb0(%a: tensor<?x?x8xf32>):
        %o = transformer.linear %a weight @"layers.*.w" : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
        transformer.yield %o : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %z = transformer.linear %y weight @t : tensor<?x?x8xf32> -> tensor<?x?x11xf32>
    return %z : tensor<?x?x11xf32>
  }
}
