// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @move_patches
// CHECK: transformer.move_patches %{{.*}} of %{{.*}} move into_windows side [4, 4] size 2 shift 1 : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
// CHECK: transformer.move_patches %{{.*}} of %{{.*}} move out_of_windows side [4, 4] size 2 : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
// CHECK: transformer.move_patches %{{.*}} of %{{.*}} move merge side [4, 4] : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x32xf32>
func.func @move_patches(%x: tensor<?x?x8xf32>, %i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  %y = transformer.move_patches %x of %i move into_windows side [4, 4] size 2 shift 1 : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  %z = transformer.move_patches %y of %i move out_of_windows side [4, 4] size 2 : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  %m = transformer.move_patches %z of %i move merge side [4, 4] : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x32xf32>
  return
}

// The smallest side.
// CHECK-LABEL: @smallest
// CHECK: move into_windows side [1, 1] size 2
func.func @smallest(%x: tensor<?x?x8xf32>, %i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [1, 1], own = [8, 8], prefix = 0, parts = [<tokens = "w", side = [2, 2], each = 4>]>}) {
  %y = transformer.move_patches %x of %i move into_windows side [1, 1] size 2 : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  return
}
