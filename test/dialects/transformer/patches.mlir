// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @patches
// CHECK: transformer.patches %{{.*}} kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
// CHECK: transformer.patches %{{.*}} kernel [3, 2] stride [2, 3] padding [1, 0] : tensor<?x3x8x8xf32> -> tensor<?x12x18xf32>
// CHECK: transformer.patches %{{.*}} kernel [1, 3] stride [1, 2] padding [0, 1] : tensor<?x80x100xf32> -> tensor<?x50x240xf32>
func.func @patches(%image: tensor<?x3x8x8xf32>, %spectrogram: tensor<?x80x100xf32>) {
  %p = transformer.patches %image kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  %q = transformer.patches %image kernel [3, 2] stride [2, 3] padding [1, 0] : tensor<?x3x8x8xf32> -> tensor<?x12x18xf32>
  %r = transformer.patches %spectrogram kernel [1, 3] stride [1, 2] padding [0, 1] : tensor<?x80x100xf32> -> tensor<?x50x240xf32>
  return
}

// CHECK-LABEL: @sized
// CHECK: transformer.patches %{{.*}} kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x?x?xf32> -> tensor<?x?x48xf32>
func.func @sized(%image: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "image_tokens", patch = [4, 4], own = [8, 8], prefix = 1>}) {
  %p = transformer.patches %image kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x?x?xf32> -> tensor<?x?x48xf32>
  return
}
