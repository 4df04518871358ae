// RUN: %mille-opt %s --convert-to-kernel --split-input-file | FileCheck %s
// RUN: %mille-opt %s --convert-to-kernel --split-input-file > %t.once
// RUN: %mille-opt %s --convert-to-kernel --convert-to-kernel --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// The sides are sizes of the run, and so are the tokens that follow from them. The
// rotation is made once, and turns queries without a rotation of positions.
// CHECK-LABEL: transformer.model @sized
// CHECK: func.func @forward(%[[B:.*]]: index {kernel.size = "batch"}, %{{.*}}: index {kernel.size = "tokens"}, %[[H:.*]]: index {kernel.size = "height"}, %[[W:.*]]: index {kernel.size = "width"}, %[[T:.*]]: index {kernel.size = "image_tokens"}, %[[P:.*]]: tensor<?xf32> {transformer.grid = #transformer.grid<tokens = "image_tokens", patch = [2, 2], own = [4, 4], prefix = 1>, transformer.name = "pixels", transformer.shape = #transformer.shape<batch, 3, height, width>})
// CHECK-SAME: -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, image_tokens, 4>})
// CHECK-DAG: %[[ROWS:.*]] = arith.muli %[[B]], %[[T]]
// CHECK: %[[R:.*]] = kernel.patch_rotation height %[[H]] width %[[W]] patch [2, 2] prefix 1 theta 1.000000e+02 head_dim 4 outs
// CHECK-NOT: kernel.rotation
// CHECK: kernel.patches %[[P]] sides %[[H]], %[[W]] image [3, 0, 0] kernel [2, 2] stride [2, 2] padding [0, 0] prefix 1 outs
// CHECK: kernel.patch_table height %[[H]] width %[[W]] base %{{.*}} : tensor<2x4xf32> table %{{.*}} : tensor<5x4xf32> patch [2, 2] prefix 1 own [2, 2] placed 1 resize bicubic outs
// CHECK: kernel.rotate {{.*}}%[[R]]
transformer.model @sized {
  transformer.parameter @w : tensor<4x12xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "w", tensor<4x12xf32>>
  transformer.parameter @b : tensor<2x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "b", tensor<2x4xf32>>
  transformer.parameter @t : tensor<5x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<5x4xf32>>
  func.func @forward(%pixels: tensor<?x3x?x?xf32> {transformer.name = "pixels", transformer.shape = #transformer.shape<batch, 3, height, width>,
      transformer.grid = #transformer.grid<tokens = "image_tokens", patch = [2, 2], own = [4, 4], prefix = 1>}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %r = transformer.patch_rotation of %pixels patch [2, 2] prefix 1 theta 100.0 head_dim 4 : tensor<?x3x?x?xf32> -> tensor<?x?x4xf32>
    %p = transformer.patches %pixels kernel [2, 2] stride [2, 2] padding [0, 0] prefix 1 : tensor<?x3x?x?xf32> -> tensor<?x?x12xf32>
    %l = transformer.linear %p weight @w : tensor<?x?x12xf32> -> tensor<?x?x4xf32>
    %t = transformer.patch_table of %pixels patch [2, 2] prefix 1 base @b table @t own [2, 2] placed 1 resize bicubic : tensor<?x3x?x?xf32> -> tensor<?x?x4xf32>
    %a = transformer.add %l, %t : tensor<?x?x4xf32>
    %y = transformer.rotate %a at %r heads 1 head_dim 4 pairing half : tensor<?x?x4xf32>, tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Windows of four tokens each. What they were before the shift is found once.
// CHECK-LABEL: transformer.model @windows
// CHECK: index {kernel.size = "height"}, %{{.*}}: index {kernel.size = "width"}, %{{.*}}: index {kernel.size = "t"}, %[[W:.*]]: index {kernel.size = "w"}
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %[[W]]
// CHECK: tensor.empty(%[[ROWS]]) : tensor<?xi32>
// CHECK: %[[S:.*]] = kernel.window_segments height %{{.*}} width %{{.*}} side [2, 2] size 2 shift 1 outs
// CHECK-NOT: kernel.window_segments
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: kernel.move_patches %{{.*}} move into_windows side [2, 2] size 2 shift 1 outs
// CHECK: kernel.attention {{.*}}segments %[[S]] : tensor<?xi32> queries %[[FOUR]] keys %[[FOUR]]
// CHECK: kernel.move_patches %{{.*}} move out_of_windows side [2, 2] size 2 shift 1 outs
transformer.model @windows {
  func.func @forward(%i: tensor<?x2x?x?xf32> {transformer.name = "pixels", transformer.shape = #transformer.shape<batch, 2, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [2, 2], own = [8, 8], prefix = 0, parts = [<tokens = "w", side = [4, 4], each = 4>]>}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %p = transformer.patches %i kernel [2, 2] stride [2, 2] padding [0, 0] : tensor<?x2x?x?xf32> -> tensor<?x?x8xf32>
    %w = transformer.move_patches %p of %i move into_windows side [2, 2] size 2 shift 1 : tensor<?x?x8xf32>, tensor<?x2x?x?xf32> -> tensor<?x?x8xf32>
    %s = transformer.window_segments of %i side [2, 2] size 2 shift 1 : tensor<?x2x?x?xf32> -> tensor<?x?xi32>
    %t = transformer.window_segments of %i side [2, 2] size 2 shift 1 : tensor<?x2x?x?xf32> -> tensor<?x?xi32>
    %a = transformer.attend %w, %w, %w segments %s : tensor<?x?xi32> heads 1 kv_heads 1 head_dim 8 value_dim 8 scale 0.5 mask bidirectional sequence_tokens 4
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    %b = transformer.attend %a, %w, %w segments %t : tensor<?x?xi32> heads 1 kv_heads 1 head_dim 8 value_dim 8 scale 0.5 mask bidirectional sequence_tokens 4
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    %y = transformer.move_patches %b of %i move out_of_windows side [2, 2] size 2 shift 1 : tensor<?x?x8xf32>, tensor<?x2x?x?xf32> -> tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}
