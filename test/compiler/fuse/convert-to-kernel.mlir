// RUN: %mille-opt %s --roll --convert-to-kernel --split-input-file | FileCheck %s
// RUN: %mille-opt %s --convert-to-kernel --split-input-file > %t.once
// RUN: %mille-opt %s --convert-to-kernel --convert-to-kernel --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// Every slot of a unit, one op each: tables with an offset, a shared input
// norm, scales of all kinds, an output norm, a stream scale; pooling.
// CHECK-LABEL: transformer.model @every_slot
// CHECK: func.func @forward(%[[B:[^:]*]]: index {kernel.size = "batch"}, %[[T:[^:]*]]: index {kernel.size = "tokens"},
// CHECK-SAME: %[[IDS:[^:]*]]: tensor<?xi32> {transformer.name = "input_ids", transformer.shape = #transformer.shape<batch, tokens>},
// CHECK-SAME: %[[MASK:[^:]*]]: tensor<?xi32>
// CHECK-SAME: %[[STEP:[^:]*]]: tensor<1xi32>
// CHECK-SAME: -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}, tensor<?x4xf32> {transformer.name = "p", transformer.shape = #transformer.shape<batch, 4>})
// CHECK: %[[ROWS:.*]] = arith.muli %[[B]], %[[T]]
// CHECK-DAG: %[[TABLE:.*]] = kernel.weight @table -> tensor<8x4xf32>
// CHECK-DAG: %[[TAIL:.*]] = kernel.weight #transformer.slice<@table, axis = 0, offset = 2, size = 6, stride = 1> -> tensor<6x4xf32>
// CHECK-DAG: %[[A:.*]] = kernel.schedule "branch_scale" of %[[STEP]] from 0.000000e+00 to 1.000000e+00 over 10
// CHECK: %[[X:.*]] = kernel.rows ins(%[[TABLE]], %[[TAIL]] : {{.*}}) indices(%[[IDS]], %[[IDS]] : {{.*}}) outs({{.*}}) gather [0, 1] {
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[P:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[ES:.*]] = arith.mulf %[[S]], %[[E]]
// CHECK-NEXT: arith.addf %[[ES]], %[[P]]
// CHECK: %[[LAYERS:.*]] = kernel.layers %[[X]]
// CHECK-NEXT: ^bb0(%[[STREAM:.*]]: tensor<?x4xf32>):
// CHECK-NOT: kernel.weight
// CHECK: %[[U:.*]] = kernel.rows ins(%[[STREAM]], %{{.*}} : {{.*}}) outs(%{{.*}}) gather [-1, -1] norm <rms,
// CHECK: %[[ACT:.*]] = kernel.rows ins(%[[U]] :
// CHECK: %[[NB:.*]] = kernel.rows ins(%[[U]] : {{.*}} norm <l2,
// CHECK: %[[SUM:.*]] = kernel.rows ins(%[[U]], %[[ACT]], %[[NB]], %[[G:.*]], %[[A]] : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>, tensor<1xf32>)
// CHECK-NEXT: ^bb0(%[[R:.*]]: f32, %[[N1:.*]]: f32, %[[N2:.*]]: f32, %[[GV:.*]]: f32, %[[AV:.*]]: f32):
// CHECK-NEXT: %[[AR:.*]] = arith.mulf %[[GV]], %[[R]]
// CHECK-NEXT: %[[S1:.*]] = arith.addf %[[AR]], %[[N1]]
// CHECK-NEXT: %[[BN:.*]] = arith.mulf %[[AV]], %[[N2]]
// CHECK-NEXT: arith.addf %[[S1]], %[[BN]]
// CHECK: kernel.rows ins(%[[SUM]], %{{.*}} : {{.*}} norm <layer,
// CHECK-NEXT: ^bb0(%[[N:.*]]: f32, %[[W:.*]]: f32):
// CHECK-NEXT: %[[NW:.*]] = arith.mulf %[[N]], %[[W]]
// CHECK-NEXT: %[[SC:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: arith.mulf %[[SC]], %[[NW]]
// CHECK: %[[AT:.*]] = kernel.pool_index tokens %[[T]] kind first skip 0 id 0
// CHECK: %[[POOLED:.*]] = kernel.rows ins(%[[LAYERS]] : {{.*}}) indices(%[[AT]] : {{.*}}) outs({{.*}}) gather [0]
// CHECK: return %[[LAYERS]], %[[POOLED]]
transformer.model @every_slot {
  transformer.parameter @table : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<8x4xf32>>
  transformer.parameter @w : tensor<4xf32> = #transformer.drawn<fixed, mean = 0.5, std = 0.0, seed = 1, stream = "w", tensor<4xf32>>
  transformer.parameter @g : tensor<4xf32> = #transformer.drawn<fixed, mean = 0.5, std = 0.0, seed = 1, stream = "g", tensor<4xf32>>
  func.func @forward(%ids: tensor<?x?xi32> {transformer.name = "input_ids"}, %mask: tensor<?x?xi32> {transformer.name = "attention_mask", transformer.default = "ones"}, %step: tensor<1xi32> {transformer.name = "step", transformer.default = "none"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}, tensor<?x4xf32> {transformer.name = "p"}) {
    %x = transformer.embed(%ids, %ids) tables [@table, @table] offsets [0, 2] scale 2.0 : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?x4xf32>
    %0 = transformer.residual %x
        in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = one_plus_weight, weight = @w>]
        branch_norm [#transformer.norm<identity>, #transformer.norm<l2_norm, eps = 1.0e-6>]
        out_norm <layer_norm, eps = 1.0e-5, affine = weight, weight = @w>
        tap normed skip_scale <learned_channel @g>
        branch_scale [#transformer.scale<constant 1.0>, #transformer.scale<scheduled from 0.0 to 1.0 over 10>]
        stream_scale <constant 0.5> {
    ^bb0(%u: tensor<?x?x4xf32>):
      %a = transformer.activate %u by relu2 : tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    }, {
    ^bb0(%u: tensor<?x?x4xf32>):
      transformer.yield %u : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %p = transformer.pool %0 key_mask %mask : tensor<?x?xi32> by first : tensor<?x?x4xf32> -> tensor<?x4xf32>
    return %0, %p : tensor<?x?x4xf32>, tensor<?x4xf32>
  }
}

// -----

// What all layers use is made once, outside the loop; a layer's own weights
// are read in it.
// CHECK-LABEL: transformer.model @attention
// CHECK: %[[ROTATION:.*]] = kernel.rotation %{{.*}} frequencies [1.0] factor 1.000000e+00
// CHECK-NOT: kernel.rotation
// CHECK: kernel.layers
// CHECK: %[[W:.*]] = kernel.weight @"layers.*.w" -> tensor<4x4xf32>
// CHECK: %[[Q:.*]] = kernel.matmul %{{.*}}, %[[W]] outs(
// CHECK: kernel.attention %[[Q]], %[[Q]], %{{.*}} key_mask %{{.*}} : tensor<?xi32> rotation %[[ROTATION]] : tensor<?x2xf32> queries %{{.*}} offsets [0, 0, 0] scale 5.000000e-01 causal true softcap 3.000000e+00 pairing interleaved
transformer.model @attention {
  transformer.parameter @layers.0.w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "0", tensor<4x4xf32>>
  transformer.parameter @layers.1.w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "1", tensor<4x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "position_ids"}, %mask: tensor<?x?xi32> {transformer.name = "attention_mask"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %0 = transformer.residual %x layer 0 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %l = transformer.linear %u weight @layers.0.w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      %r = transformer.rotate %l at %at heads 2 head_dim 2 pairing interleaved frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
      %s = transformer.rotate %l at %at heads 2 head_dim 2 pairing interleaved frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
      %a = transformer.attend %r, %s, %u key_mask %mask : tensor<?x?xi32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal softcap 3.0 : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    %1 = transformer.residual %0 layer 1 {
    ^bb0(%u: tensor<?x?x4xf32>):
      %l = transformer.linear %u weight @layers.1.w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      %r = transformer.rotate %l at %at heads 2 head_dim 2 pairing interleaved frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
      %s = transformer.rotate %l at %at heads 2 head_dim 2 pairing interleaved frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
      %a = transformer.attend %r, %s, %u key_mask %mask : tensor<?x?xi32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal softcap 3.0 : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %1 : tensor<?x?x4xf32>
  }
}
