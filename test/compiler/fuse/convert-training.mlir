// RUN: %mille-opt %s --convert-to-kernel --split-input-file | FileCheck %s

// A step reads its weights packed by the program, and adds to their gradients;
// what a layer saves, its turn back finds.
// CHECK-LABEL: func.func @train_step
// CHECK-SAME: %[[LABELS:[a-z0-9]+]]: tensor<?xi32> {transformer.name = "labels"
// CHECK-SAME: %[[TIMES:[a-z0-9]+]]: tensor<1xf32>
// CHECK-SAME: -> (tensor<?x1xf32> {transformer.name = "losses", transformer.shape = #transformer.shape<batch, tokens>})
// CHECK-SAME: kernel.bodies = [{body = 0 : i64, difference = "", layers = "0-1", stack = 0 : i64}, {body = 0 : i64, difference = "", layers = "0-1", stack = 1 : i64}]}
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

// -----

// Weights that a step changes are read as they are: a norm's 1 + weight is in its
// region, one norm's weight for all heads is spread, a table's part is read by other ids.
// A factor of one number gets the sum over columns too, a head's norm that over heads.
// CHECK-LABEL: func.func @train_step
// CHECK: %[[W:.*]] = kernel.weight @w -> tensor<8xf32>
// CHECK: %[[H:.*]] = kernel.weight @h -> tensor<4xf32>
// CHECK: %[[HH:.*]] = kernel.spread %[[H]] from [0, 1, 2, 3, 0, 1, 2, 3] outs(%{{.*}} : tensor<8xf32>) : tensor<4xf32> -> tensor<8xf32>
// CHECK: %[[AT:.*]] = kernel.shift %{{.*}} by 2 outs(%{{.*}} : tensor<?xi32>)
// CHECK: kernel.rows ins(%{{.*}} : tensor<11x8xf32>) indices(%[[AT]]
// CHECK: kernel.rows ins(%{{.*}}, %[[W]] : tensor<?x8xf32>, tensor<8xf32>)
// CHECK: arith.addf
// CHECK: %[[P:.*]] = kernel.rows ins(%{{.*}}, %[[W]] : tensor<?x8xf32>, tensor<8xf32>)
// CHECK: %[[N:.*]]:2 = kernel.norm_backward %[[P]], %{{.*}} outs(
// CHECK: kernel.column_sums ins(%{{.*}}, %[[N]]#1 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%{{.*}} : tensor<8xf32>)
// CHECK: kernel.norm_backward %{{.*}}, %{{.*}} weight %[[HH]] : tensor<8xf32>
// CHECK: kernel.column_sums ins(%{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: kernel.column_sums ins(%{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>) outs(%{{.*}} : tensor<1xf32>)
// CHECK: kernel.embed_gradient %{{.*}} at %[[AT]] outs(%{{.*}} : tensor<11x8xf32>)
transformer.model @weights {
  transformer.parameter @word : tensor<11x8xf32> = #transformer.stored<"f", "word", tensor<11x8xf32>>
  transformer.parameter @w : tensor<8xf32> = #transformer.stored<"f", "w", tensor<8xf32>>
  transformer.parameter @h : tensor<4xf32> = #transformer.stored<"f", "h", tensor<4xf32>>
  transformer.parameter @a : tensor<1xf32> = #transformer.stored<"f", "a", tensor<1xf32>>
  func.func @train_step(%ids: tensor<?x?xi32> {transformer.name = "input_ids"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %x = transformer.embed(%ids) tables [@word] offsets [2] : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
    %n = transformer.norm %x by <rms_norm, eps = 1.0e-5, affine = one_plus_weight, weight = @w> : tensor<?x?x8xf32>
    %m = transformer.norm %n by <rms_norm, eps = 1.0e-5, affine = weight, weight = @h, group = 4> : tensor<?x?x8xf32>
    %gn = transformer.norm_gradient %m at %x by <rms_norm, eps = 1.0e-5, affine = one_plus_weight, weight = @w> : tensor<?x?x8xf32>
    %gh = transformer.norm_gradient %gn at %n by <rms_norm, eps = 1.0e-5, affine = weight, weight = @h, group = 4> : tensor<?x?x8xf32>
    transformer.scale_gradient %gh times %x to @a : tensor<?x?x8xf32>
    transformer.embed_gradient %gh to(%ids) tables [@word] offsets [2] : tensor<?x?x8xf32>, (tensor<?x?xi32>)
    return %gh : tensor<?x?x8xf32>
  }
}

// -----

// A table by distance is spread for attention, its gradient is a row of each query. A
// layer's and a query's factor go with the query.
// CHECK-LABEL: func.func @train_step
// CHECK: %[[S:.*]] = kernel.spread %{{.*}} from [2, 0, 4, 3, 1, 5] outs(%{{.*}} : tensor<2x3xf32>) : tensor<3x2xf32> -> tensor<2x3xf32>
// CHECK: kernel.attention %{{.*}} bias %[[S]] : tensor<2x3xf32>
// CHECK: %[[Q:.*]] = kernel.rows ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x1xf32>)
// CHECK: %[[B:.*]]:5 = kernel.attention_backward %[[Q]], %{{.*}} sink %{{.*}} : tensor<2xf32> bias %[[S]] : tensor<2x3xf32> segments
// CHECK-SAME: slopes [0.5, 0.25] bias_by distance
// CHECK: kernel.rows ins(%[[B]]#4, %{{.*}} : tensor<?x8xf32>, tensor<?x1xf32>)
// CHECK: kernel.column_sums ins(%[[B]]#3 : tensor<?x2xf32>) outs(%{{.*}} : tensor<2xf32>)
// CHECK: kernel.column_sums ins(%[[B]]#2 : tensor<?x6xf32>) outs(%{{.*}} : tensor<3x2xf32>) to [2, 0, 4, 3, 1, 5]
transformer.model @biases {
  transformer.parameter @t : tensor<3x2xf32> = #transformer.stored<"f", "t", tensor<3x2xf32>>
  transformer.parameter @sink : tensor<2xf32> = #transformer.stored<"f", "sink", tensor<2xf32>>
  func.func @train_step(%q: tensor<?x?x8xf32> {transformer.name = "q"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %m: tensor<?x?xi32> {transformer.name = "m"})
      -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %a = transformer.position_bias %at slopes [0.5, 0.25] : tensor<?x?xi32> -> tensor<?x2x?x?xf32>
    %d = transformer.distance_bias %q table @t buckets [1, 0, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    %o = transformer.attend %q, %q, %q positions %at : tensor<?x?xi32> segments %m : tensor<?x?xi32> bias %a, %d : tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5
      length_scale <log_floor, beta = 0.4, period = 4> sink @sink mask bidirectional : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    %gq, %gk, %gv, %gd = transformer.attend_gradient %o of %o at %q, %q, %q positions %at : tensor<?x?xi32> segments %m : tensor<?x?xi32> bias %a, %d : tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5
      length_scale <log_floor, beta = 0.4, period = 4> sink @sink mask bidirectional bias_gradients [1] -> tensor<?x2x?x?xf32>
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
    transformer.bias_gradient %gd to @t buckets [1, 0, 2] : tensor<?x2x?x?xf32>
    return %gq : tensor<?x?x8xf32>
  }
}

// -----

// What all layers read from outside has a sum that the loop back carries.
// CHECK-LABEL: func.func @train_step
// CHECK: %[[Z:.*]] = kernel.rows ins(%{{.*}} : tensor<1xf32>)
// CHECK: %[[L:.*]]:2 = kernel.layers %{{.*}}, %[[Z]] reverse
// CHECK: ^bb0(%[[G:.*]]: tensor<?x8xf32>, %[[SUM:.*]]: tensor<?x8xf32>):
// CHECK: %[[D:.*]] = kernel.dropout %[[G]] step %{{.*}} first %{{.*}} tokens %{{.*}} rate 1.000000e-01 seed 0 site 2
// CHECK: %[[NEXT:.*]] = kernel.rows ins(%[[SUM]], %[[D]] : tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK: kernel.yield %[[D]], %[[NEXT]]
// CHECK: return %[[L]]#1
transformer.model @sums {
  func.func @train_step(%x: tensor<?x?x8xf32> {transformer.name = "x"}, %n: tensor<1xi32> {transformer.name = "step"}, %f: tensor<1xi32> {transformer.name = "first_sequence"})
      -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %0 = transformer.layers %x reverse slots [[]] bodies [0, 0] table [[], []] {
    ^bb0(%g: tensor<?x?x8xf32>):
      %d = transformer.dropout %g step %n first %f rate 0.1 seed 0 site 2 : tensor<?x?x8xf32>, tensor<1xi32>, tensor<1xi32>
      transformer.collect %d like %x into "outside.0" : tensor<?x?x8xf32>, tensor<?x?x8xf32>
      transformer.yield %d : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    %1 = transformer.collected "outside.0" like %x : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    return %1 : tensor<?x?x8xf32>
  }
}
