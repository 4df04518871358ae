// The training step of a rolled stack: one body forward, one in reverse, whatever
// the depth. What is saved and what is computed anew is one word.
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate))' | FileCheck %s
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate{recompute=none}))' | FileCheck %s --check-prefix=NONE
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate{recompute=layer}))' | FileCheck %s --check-prefix=LAYER
// RUN: %mille-opt %s --pass-pipeline='builtin.module(transformer.model(differentiate{of=logits loss=given}))' | FileCheck %s --check-prefix=GIVEN

// CHECK-LABEL: func.func @eval
// CHECK: %[[L:.*]], %{{.*}} = transformer.cross_entropy
// CHECK: return %[[L]]

// CHECK-LABEL: func.func @train_step
// CHECK-SAME: %[[IDS:[a-z0-9]+]]: tensor<?x?xi32> {{.*}} %[[LABELS:[a-z0-9]+]]: tensor<?x?xi32> {transformer.name = "labels"}, %[[W:[a-z0-9]+]]: tensor<1xf32> {transformer.name = "loss_weight"}
// CHECK-SAME: -> (tensor<?x?xf32> {transformer.name = "losses"})
// CHECK: %[[Y:.*]] = transformer.layers %{{.*}} saves ["x", "l.*.in", "sum"] {
// CHECK: transformer.save %{{.*}} as "x"
// CHECK: transformer.residual %{{.*}} sum_as "sum"
// CHECK: transformer.save %{{.*}} as "l.*.in"
// CHECK: %[[LOSSES:.*]], %[[GZ:.*]] = transformer.cross_entropy %{{.*}} labels %[[LABELS]] weight %[[W]]
// CHECK: transformer.weight_gradient %[[GZ]], %[[Y]] weight @word
// CHECK: %[[GY:.*]] = transformer.linear %[[GZ]] weight @word transposed
// CHECK: %[[GX:.*]] = transformer.layers %[[GY]] reverse slots {{.*}} table {{\[\[}}@l.0.in, {{.*}}], [@l.1.in, {{.*}}]] {
// CHECK-NEXT: ^bb0(%[[G:.*]]: tensor<?x?x8xf32>):
// CHECK-NEXT: %[[SUM:.*]] = transformer.saved "sum"
// CHECK-NEXT: %[[GS:.*]] = transformer.norm_gradient %[[G]] at %[[SUM]] by <rms_norm
// CHECK-NEXT: %[[SKIP:.*]] = transformer.affine %[[GS]] scale <constant 1.5>
// CHECK-NEXT: %[[I:.*]] = transformer.saved "l.*.in"
// CHECK-NEXT: %[[H:.*]] = transformer.activate %[[I]]
// CHECK-NEXT: transformer.weight_gradient %[[GS]], %[[H]] weight @"l.*.out"
// CHECK-NEXT: %[[GH:.*]] = transformer.linear %[[GS]] weight @"l.*.out" transposed
// CHECK-NEXT: %[[GI:.*]] = transformer.activate_gradient %[[GH]] at %[[I]]
// CHECK-NEXT: %[[X:.*]] = transformer.saved "x"
// CHECK-NEXT: transformer.weight_gradient %[[GI]], %[[X]] weight @"l.*.in"
// CHECK-NEXT: %[[GB:.*]] = transformer.linear %[[GI]] weight @"l.*.in" transposed
// CHECK-NEXT: %[[ALL:.*]] = transformer.add %[[SKIP]], %[[GB]]
// CHECK-NEXT: transformer.yield %[[ALL]]
// CHECK: transformer.embed_gradient %[[GX]] to(%[[IDS]]) tables [@word]
// CHECK: return %[[LOSSES]]

// NONE: saves ["x", "l.*.in", "activate", "sum"] {
// NONE: transformer.layers %{{.*}} reverse
// NONE-NOT: transformer.activate %

// LAYER: saves ["x"] {
// LAYER: transformer.layers %{{.*}} reverse
// LAYER: %[[X:.*]] = transformer.saved "x"
// LAYER-NOT: transformer.saved
// LAYER: transformer.linear %[[X]] weight @"l.*.in" :
// LAYER: transformer.norm_gradient

// GIVEN-NOT: @eval
// GIVEN: func.func @train_step({{.*}}%[[G:[a-z0-9]+]]: tensor<?x?x11xf32> {transformer.name = "gradient.logits"}) -> (tensor<?x?x11xf32> {transformer.name = "logits"})
// GIVEN: transformer.weight_gradient %[[G]]
transformer.model @tiny {
  transformer.parameter @word : tensor<11x8xf32> = #transformer.stored<"f", "word", tensor<11x8xf32>>
  transformer.parameter @l.0.in : tensor<12x8xf32> = #transformer.stored<"f", "in0", tensor<12x8xf32>>
  transformer.parameter @l.0.out : tensor<8x12xf32> = #transformer.stored<"f", "out0", tensor<8x12xf32>>
  transformer.parameter @l.0.n : tensor<8xf32> = #transformer.stored<"f", "n0", tensor<8xf32>>
  transformer.parameter @l.1.in : tensor<12x8xf32> = #transformer.stored<"f", "in1", tensor<12x8xf32>>
  transformer.parameter @l.1.out : tensor<8x12xf32> = #transformer.stored<"f", "out1", tensor<8x12xf32>>
  transformer.parameter @l.1.n : tensor<8xf32> = #transformer.stored<"f", "n1", tensor<8xf32>>
  func.func @forward(%ids: tensor<?x?xi32> {transformer.name = "input_ids", transformer.below = 11})
      -> (tensor<?x?x11xf32> {transformer.name = "logits"}) {
    %x = transformer.embed(%ids) tables [@word] offsets [0] : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
    %y = transformer.layers %x slots [["l.*.in", "l.*.out", "l.*.n"]] bodies [0, 0]
        table [[@l.0.in, @l.0.out, @l.0.n], [@l.1.in, @l.1.out, @l.1.n]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %u = transformer.residual %s out_norm <rms_norm, eps = 1.0e-5, affine = weight, weight = @"l.*.n"> skip_scale <constant 1.5> {
      ^bb0(%a: tensor<?x?x8xf32>):
        %i = transformer.linear %a weight @"l.*.in" : tensor<?x?x8xf32> -> tensor<?x?x12xf32>
        %h = transformer.activate %i by gelu_erf : tensor<?x?x12xf32>
        %o = transformer.linear %h weight @"l.*.out" : tensor<?x?x12xf32> -> tensor<?x?x8xf32>
        transformer.yield %o : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %z = transformer.linear %y weight @word : tensor<?x?x8xf32> -> tensor<?x?x11xf32>
    return %z : tensor<?x?x11xf32>
  }
}
