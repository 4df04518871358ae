// Dropout of embeddings and branches, and labels that are spread, are in the step and
// not in `eval`. The gradient is dropped by the same op. An embedding that is no stream
// (%r, of rows alone) is passed over.
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate{recompute=none}))' | FileCheck %s

// CHECK-LABEL: func.func @eval
// CHECK-NOT: transformer.dropout
// CHECK: transformer.cross_entropy
// CHECK-NOT: smoothing
// CHECK-LABEL: func.func @train_step
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: tensor<1xi32> {transformer.default = "none", transformer.name = "step"}, %[[FIRST:[a-z0-9]+]]: tensor<1xi32> {transformer.default = "none", transformer.name = "first_sequence"}
// CHECK: %[[E:.*]] = transformer.embed
// CHECK: transformer.dropout %[[E]] step %[[STEP]] first %[[FIRST]] rate 1.000000e-01 seed 0 site 0
// CHECK: transformer.residual
// CHECK: %[[B:.*]] = transformer.linear
// CHECK: %[[D:.*]] = transformer.dropout %[[B]] step %[[STEP]] first %[[FIRST]] rate 1.000000e-01 seed 0 site 1
// CHECK: transformer.yield %[[D]]
// CHECK: transformer.cross_entropy %{{.*}} smoothing 2.000000e-01
// CHECK: %[[L:.*]] = transformer.dropout %{{.*}} site 1
// CHECK: transformer.weight_gradient %[[L]], %{{.*}} weight @w
// CHECK: %[[G:.*]] = transformer.dropout %{{.*}} site 0
// CHECK: transformer.embed_gradient %[[G]]
transformer.model @m attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0, dropout = 0.1, label_smoothing = 0.2,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = []}} {
  transformer.parameter @t : tensor<11x8xf32> = #transformer.stored<"f", "t", tensor<11x8xf32>>
  transformer.parameter @w : tensor<8x8xf32> = #transformer.stored<"f", "w", tensor<8x8xf32>>
  func.func @forward(%ids: tensor<?x?xi32> {transformer.name = "input_ids", transformer.below = 11}, %rows: tensor<?xi32> {transformer.name = "rows", transformer.below = 11})
      -> (tensor<?x?x11xf32> {transformer.name = "logits"}) {
    %r = transformer.embed(%rows) tables [@t] offsets [0] : (tensor<?xi32>) -> tensor<?x8xf32>
    %x = transformer.embed(%ids) tables [@t] offsets [0] : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
    %u = transformer.residual %x {
    ^bb0(%a: tensor<?x?x8xf32>):
      %o = transformer.linear %a weight @w : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
      transformer.yield %o : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %z = transformer.linear %u weight @t : tensor<?x?x8xf32> -> tensor<?x?x11xf32>
    return %z : tensor<?x?x11xf32>
  }
}
