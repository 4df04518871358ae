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
