// A token that went to several places gets the gradients of all of them, one gather for
// the first of each, one for the second.
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate{of=out loss=given}))' | FileCheck %s

// CHECK: func.func @train_step({{.*}}%[[G:[a-z0-9]+]]: tensor<?x2x24xf32> {transformer.name = "gradient.out"})
// CHECK: %[[A:.*]] = transformer.gather_tokens %[[G]] index [1, 2] group 1 parts 3 : tensor<?x2x24xf32> -> tensor<?x2x8xf32>
// CHECK: %[[B:.*]] = transformer.gather_tokens %[[G]] index [3, 4] group 1 parts 3 : tensor<?x2x24xf32> -> tensor<?x2x8xf32>
// CHECK: %[[SUM:.*]] = transformer.add %[[A]], %[[B]]
// CHECK: transformer.weight_gradient %[[SUM]],
transformer.model @convolution {
  transformer.parameter @w : tensor<8x8xf32> = #transformer.stored<"f", "w", tensor<8x8xf32>>
  func.func @forward(%x: tensor<?x2x8xf32> {transformer.name = "x"}) -> (tensor<?x2x24xf32> {transformer.name = "out"}) {
    %0 = transformer.linear %x weight @w : tensor<?x2x8xf32> -> tensor<?x2x8xf32>
    %1 = transformer.gather_tokens %0 index [-1, 0, 1, 0, 1, -1] group 3 : tensor<?x2x8xf32> -> tensor<?x2x24xf32>
    return %1 : tensor<?x2x24xf32>
  }
}
