// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @patch_rotation
// CHECK: transformer.patch_rotation of %{{.*}} patch [4, 4] prefix 1 theta 1.000000e+02 head_dim 8 : tensor<?x3x8x8xf32> -> tensor<?x5x8xf32>
// CHECK: transformer.patch_rotation of %{{.*}} patch [4, 4] prefix 1 theta 1.000000e+02 head_dim 9 : tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
func.func @patch_rotation(%x: tensor<?x3x8x8xf32>, %y: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "image_tokens", patch = [4, 4], own = [8, 8], prefix = 1>}) {
  %r = transformer.patch_rotation of %x patch [4, 4] prefix 1 theta 100.0 head_dim 8 : tensor<?x3x8x8xf32> -> tensor<?x5x8xf32>
  %s = transformer.patch_rotation of %y patch [4, 4] prefix 1 theta 100.0 head_dim 9 : tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  return
}
