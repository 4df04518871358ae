// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @window_segments_c1(%i: tensor<?x3x?x?xf32>) {
  // expected-error @+1 {{pixels are [?, 3, ?, ?] but are no input with transformer.grid}}
  %s = transformer.window_segments of %i side [4, 4] size 2 shift 1 : tensor<?x3x?x?xf32> -> tensor<?x?xi32>
  return
}

// -----

func.func @window_segments_c2(%i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  // expected-error @+1 {{size is 0 and shift 0 but 0 <= shift < size < 32768}}
  %s = transformer.window_segments of %i side [4, 4] size 0 : tensor<?x3x?x?xf32> -> tensor<?x?xi32>
  return
}

// -----

func.func @window_segments_c3(%i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  // expected-error @+1 {{has 9 tokens for each [12, 12] pixels but the grid has no such part}}
  %s = transformer.window_segments of %i side [4, 4] size 3 : tensor<?x3x?x?xf32> -> tensor<?x?xi32>
  return
}

// -----

func.func @window_segments_c4(%i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  // expected-error @+1 {{result is [?, 4] but must be [?, ?]}}
  %s = transformer.window_segments of %i side [4, 4] size 2 shift 1 : tensor<?x3x?x?xf32> -> tensor<?x4xi32>
  return
}
