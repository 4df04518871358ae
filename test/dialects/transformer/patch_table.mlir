// RUN: %mille-opt %s | %mille-opt | FileCheck %s

transformer.model @patch_table {
  transformer.parameter @b : tensor<2x48xf32> = #transformer.stored<"f", "b", tensor<2x48xf32>>
  transformer.parameter @t : tensor<10x48xf32> = #transformer.stored<"f", "t", tensor<10x48xf32>>
  // CHECK: transformer.patch_table of %{{.*}} patch [4, 4] prefix 1 base @b table @t own [3, 3] placed 1 resize bicubic : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  // CHECK: transformer.patch_table of %{{.*}} patch [4, 4] prefix 1 base @b : tensor<?x3x?x?xf32> -> tensor<?x?x48xf32>
  // CHECK: transformer.patch_table of %{{.*}} patch [4, 4] table @t own [5, 2] resize bicubic_antialiased : tensor<?x3x8x8xf32> -> tensor<?x4x48xf32>
  func.func @forward(%x: tensor<?x3x8x8xf32> {transformer.name = "x"}, %y: tensor<?x3x?x?xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "image_tokens", patch = [4, 4], own = [8, 8], prefix = 1>}) {
    %p = transformer.patch_table of %x patch [4, 4] prefix 1 base @b table @t own [3, 3] placed 1 resize bicubic : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
    %q = transformer.patch_table of %y patch [4, 4] prefix 1 base @b : tensor<?x3x?x?xf32> -> tensor<?x?x48xf32>
    %r = transformer.patch_table of %x patch [4, 4] table @t own [5, 2] resize bicubic_antialiased : tensor<?x3x8x8xf32> -> tensor<?x4x48xf32>
    return
  }
}
