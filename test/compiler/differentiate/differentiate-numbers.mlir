// The loss of numbers: labels are as many as the output has, and lie as it does; where
// the output does not say how, as the input that its rows follow.
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate{of=out}))' | FileCheck %s

// CHECK-LABEL: func.func @train_step
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<?x?x1xf32> {transformer.name = "labels", transformer.shape = #transformer.shape<batch, tokens, 1>}
// CHECK-SAME: -> (tensor<?x?x1xf32> {transformer.name = "losses", transformer.shape = #transformer.shape<batch, tokens, 1>})
// CHECK: transformer.squared_error
transformer.model @m attributes {train = {optimizer = "sgd", schedule = "constant", rate = 1.0, end_rate = 0.0,
    momentum = 0.0, beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8, weight_decay = 0.0, clip = 0.0, dropout = 0.0, label_smoothing = 0.0,
    warmup = 0 : i64, steps = 0 : i64, accumulate = 1 : i64, groups = []}} {
  transformer.parameter @w : tensor<1x8xf32> = #transformer.stored<"f", "w", tensor<1x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>})
      -> (tensor<?x?x1xf32> {transformer.name = "out"}) {
    %y = transformer.linear %x weight @w : tensor<?x?x8xf32> -> tensor<?x?x1xf32>
    return %y : tensor<?x?x1xf32>
  }
}
