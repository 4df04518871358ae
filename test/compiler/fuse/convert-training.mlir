// RUN: %mille-opt %s --convert-to-kernel --split-input-file | FileCheck %s

// A step reads its weights packed by the program, and adds to their gradients;
// what a layer saves, its turn back finds.
// CHECK-LABEL: func.func @train_step
// CHECK-SAME: %[[LABELS:[a-z0-9]+]]: tensor<?xi32> {transformer.name = "labels"
// CHECK-SAME: %[[TIMES:[a-z0-9]+]]: tensor<1xf32>
// CHECK-SAME: -> (tensor<?x1xf32> {transformer.name = "losses", transformer.shape = #transformer.shape<batch, tokens>})
// CHECK: %[[W:.*]] = kernel.weight @w -> tensor<16x8xf32>
// CHECK: kernel.layers %{{.*}} slots
// CHECK: kernel.save %{{.*}} as "x" : tensor<?x8xf32>
// CHECK: kernel.save %{{.*}} as "sum" : tensor<?x8xf32>
// CHECK: %[[P:.*]] = kernel.pack %[[W]] outs(%{{.*}} : tensor<16x8xf32>)
// CHECK: %[[Z:.*]] = kernel.matmul %[[Y:.*]], %[[P]]
// CHECK: %[[L:.*]]:2 = kernel.cross_entropy %{{.*}} labels %[[LABELS]] : tensor<?xi32> times %[[TIMES]] : tensor<1xf32>
// CHECK: %[[G:.*]] = kernel.gradient @w -> tensor<16x8xf32>
// CHECK: kernel.weight_gradient %[[L]]#1, %[[Y]] outs(%[[G]] : tensor<16x8xf32>)
// CHECK: %[[B:.*]] = kernel.gradient @b -> tensor<16xf32>
// CHECK: kernel.column_sums ins(%[[L]]#1 : tensor<?x16xf32>) outs(%[[B]] : tensor<16xf32>)
// CHECK: %[[T:.*]] = kernel.pack %[[W]] transposed outs(%{{.*}} : tensor<8x16xf32>)
// CHECK: kernel.matmul %[[L]]#1, %[[T]]
// CHECK: kernel.layers %{{.*}} reverse slots
// CHECK: %[[S:.*]] = kernel.saved "sum" rows %{{.*}} -> tensor<?x8xf32>
// CHECK: %[[N:.*]]:2 = kernel.norm_backward %[[A:.*]], %[[S]] weight %{{.*}} : tensor<8xf32>
// CHECK-SAME: norm <layer, 1.0e-05>
// CHECK: %[[GN:.*]] = kernel.gradient @"l.*.n" -> tensor<8xf32>
// CHECK: kernel.column_sums ins(%[[A]], %[[N]]#1 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%[[GN]] : tensor<8xf32>)
// CHECK: arith.mulf
// CHECK: kernel.column_sums ins(%[[A]] : tensor<?x8xf32>)
// CHECK: kernel.embed_gradient %{{.*}} at %{{.*}} outs(%{{.*}} : tensor<11x8xf32>)
// CHECK: return %[[L]]#0
transformer.model @tiny {
  transformer.parameter @word : tensor<11x8xf32> = #transformer.stored<"f", "word", tensor<11x8xf32>>
  transformer.parameter @w : tensor<16x8xf32> = #transformer.stored<"f", "w", tensor<16x8xf32>>
  transformer.parameter @b : tensor<16xf32> = #transformer.stored<"f", "b", tensor<16xf32>>
  transformer.parameter @n : tensor<8xf32> = #transformer.stored<"f", "n", tensor<8xf32>>
  func.func @train_step(%ids: tensor<?x?xi32> {transformer.name = "input_ids"}, %labels: tensor<?x?xi32> {transformer.name = "labels"}, %times: tensor<1xf32> {transformer.name = "loss_weight"})
      -> (tensor<?x?xf32> {transformer.name = "losses"}) {
    %x = transformer.embed(%ids) tables [@word] offsets [0] : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
    %y = transformer.layers %x slots [["l.*.n"]] bodies [0, 0] table [[@n], [@n]] saves ["x", "sum"] {
    ^bb0(%s: tensor<?x?x8xf32>):
      transformer.save %s as "x" : tensor<?x?x8xf32>
      %u = transformer.residual %s out_norm <layer_norm, eps = 1.0e-5, affine = weight, weight = @"l.*.n", bias = @"l.*.n"> sum_as "sum" {
      ^bb0(%a: tensor<?x?x8xf32>):
        %o = transformer.activate %a by silu : tensor<?x?x8xf32>
        transformer.yield %o : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %z = transformer.linear %y weight @w bias @b : tensor<?x?x8xf32> -> tensor<?x?x16xf32>
    %l, %g = transformer.cross_entropy %z labels %labels weight %times : tensor<?x?x16xf32>, tensor<?x?xi32>, tensor<1xf32> -> tensor<?x?xf32>
    transformer.weight_gradient %g, %y weight @w bias @b : tensor<?x?x16xf32>, tensor<?x?x8xf32>
    %gy = transformer.linear %g weight @w transposed : tensor<?x?x16xf32> -> tensor<?x?x8xf32>
    %gx = transformer.layers %gy reverse slots [["l.*.n"]] bodies [0, 0] table [[@n], [@n]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %sum = transformer.saved "sum" : tensor<?x?x8xf32>
      %gs = transformer.norm_gradient %s at %sum by <layer_norm, eps = 1.0e-5, affine = weight, weight = @"l.*.n", bias = @"l.*.n"> : tensor<?x?x8xf32>
      %in = transformer.saved "x" : tensor<?x?x8xf32>
      %gi = transformer.activate_gradient %gs at %in by silu : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
      transformer.yield %gi : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    transformer.embed_gradient %gx to(%ids) tables [@word] offsets [0] : tensor<?x?x8xf32>, (tensor<?x?xi32>)
    return %l : tensor<?x?xf32>
  }
}

// -----

// CHECK-LABEL: func.func @train_step
// CHECK: kernel.attention_backward %[[Q:.*]], %[[K:.*]], %[[V:.*]] gradient %[[G:.*]] : tensor<?x8xf32> key_mask %{{.*}} : tensor<?xi32> queries %[[T:.*]] keys %[[T]] outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 5.000000e-01 causal true
// The gate's gradient, and that of what it gates.
// CHECK: kernel.rows ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK: math.exp
// CHECK: kernel.rows ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK: kernel.column_sums ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>) outs(%{{.*}} : tensor<8xf32>)
transformer.model @attends {
  transformer.parameter @s : tensor<8xf32> = #transformer.stored<"f", "s", tensor<8xf32>>
  func.func @train_step(%q: tensor<?x?x8xf32> {transformer.name = "q"}, %k: tensor<?x?x4xf32> {transformer.name = "k"}, %m: tensor<?x?xi32> {transformer.name = "m"})
      -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %gq, %gk, %gv = transformer.attend_gradient %q of %q at %q, %k, %k key_mask %m : tensor<?x?xi32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
    %a, %b = transformer.activate_gradient %gq at %q times %q by silu : tensor<?x?x8xf32> -> tensor<?x?x8xf32>, tensor<?x?x8xf32>
    transformer.scale_gradient %a times %b to @s : tensor<?x?x8xf32>
    return %b : tensor<?x?x8xf32>
  }
}
