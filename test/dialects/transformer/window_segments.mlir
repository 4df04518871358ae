// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @window_segments
// CHECK: transformer.window_segments of %{{.*}} side [4, 4] size 2 shift 1 : tensor<?x3x?x?xf32> -> tensor<?x?xi32>
func.func @window_segments(%i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  %s = transformer.window_segments of %i side [4, 4] size 2 shift 1 : tensor<?x3x?x?xf32> -> tensor<?x?xi32>
  return
}
