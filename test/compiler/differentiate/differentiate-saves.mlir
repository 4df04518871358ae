// What a residual unit's adjoint reads is saved: the input of a norm of a branch's input,
// and a branch's value where a norm follows it or its scale is learned; not where neither
// does.
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate{recompute=none}))' | FileCheck %s

// CHECK-LABEL: func.func @train_step
// CHECK: transformer.save %{{.*}} as "normed"
// CHECK: transformer.save %{{.*}} as "after"
// CHECK-NOT: transformer.save %{{.*}} as "plain"
// CHECK: transformer.save %{{.*}} as "scaled"
// CHECK: transformer.cross_entropy
transformer.model @m {
  transformer.parameter @t : tensor<11x8xf32> = #transformer.stored<"f", "t", tensor<11x8xf32>>
  transformer.parameter @after.weight : tensor<8x8xf32> = #transformer.stored<"f", "a", tensor<8x8xf32>>
  transformer.parameter @plain.weight : tensor<8x8xf32> = #transformer.stored<"f", "p", tensor<8x8xf32>>
  transformer.parameter @scaled.weight : tensor<8x8xf32> = #transformer.stored<"f", "s", tensor<8x8xf32>>
  transformer.parameter @scale : tensor<1xf32> = #transformer.stored<"f", "g", tensor<1xf32>>
  func.func @forward(%ids: tensor<?x?xi32> {transformer.name = "input_ids", transformer.below = 11})
      -> (tensor<?x?x11xf32> {transformer.name = "logits"}) {
    %x = transformer.embed(%ids) tables [@t] offsets [0] : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
    %u = transformer.residual %x
        in_norm [#transformer.norm<rms_norm, eps = 1.0e-5>]
        branch_norm [#transformer.norm<rms_norm, eps = 1.0e-5>] {
    ^bb0(%a: tensor<?x?x8xf32>):
      %o = transformer.linear %a weight @after.weight : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
      transformer.yield %o : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %v = transformer.residual %u {
    ^bb0(%a: tensor<?x?x8xf32>):
      %o = transformer.linear %a weight @plain.weight : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
      transformer.yield %o : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %y = transformer.residual %v branch_scale [#transformer.scale<learned_scalar @scale, share = unit>] {
    ^bb0(%a: tensor<?x?x8xf32>):
      %o = transformer.linear %a weight @scaled.weight : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
      transformer.yield %o : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %z = transformer.linear %y weight @t : tensor<?x?x8xf32> -> tensor<?x?x11xf32>
    return %z : tensor<?x?x11xf32>
  }
}
