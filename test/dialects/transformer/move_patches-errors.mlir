// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @move_patches_c1(%x: tensor<?x?x8xf32>, %i: tensor<?x3x?x?xf32>) {
  // expected-error @+1 {{pixels are [?, 3, ?, ?] but are no input with transformer.grid}}
  %y = transformer.move_patches %x of %i move into_windows side [4, 4] size 2 shift 1 : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @move_patches_c2(%x: tensor<?x?x8xf32>, %i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  // expected-error @+1 {{side is [4, 0] but must be two numbers from 1 to 32767}}
  %y = transformer.move_patches %x of %i move into_windows side [4, 0] size 2 : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @move_patches_c2_shift(%x: tensor<?x?x8xf32>, %i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  // expected-error @+1 {{size is 2 and shift 2 but 0 <= shift < size < 32768}}
  %y = transformer.move_patches %x of %i move into_windows side [4, 4] size 2 shift 2 : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @move_patches_c2_merge(%x: tensor<?x?x8xf32>, %i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  // expected-error @+1 {{size is 2 and shift 0 but merge has neither}}
  %y = transformer.move_patches %x of %i move merge side [4, 4] size 2 : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x32xf32>
  return
}

// -----

func.func @move_patches_c3(%x: tensor<?x?x8xf32>, %i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  // expected-error @+1 {{has 9 tokens for each [12, 12] pixels but the grid has no such part}}
  %y = transformer.move_patches %x of %i move into_windows side [4, 4] size 3 : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @move_patches_c3_back(%x: tensor<?x?x8xf32>, %i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  // expected-error @+1 {{has 1 tokens for each [2, 2] pixels but the grid has no such part}}
  %y = transformer.move_patches %x of %i move out_of_windows side [2, 2] size 2 : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @move_patches_c4(%x: tensor<?x?x8xf32>, %i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  // expected-error @+1 {{result is [?, ?, 8] but must be [?, ?, 32]}}
  %y = transformer.move_patches %x of %i move merge side [4, 4] : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @move_patches_c4_fixed(%x: tensor<?x4x8xf32>, %i: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "m", side = [8, 8], each = 1>]>}) {
  // expected-error @+1 {{input is [?, 4, 8] but must be [batch, tokens, c], run-time tokens}}
  %y = transformer.move_patches %x of %i move into_windows side [4, 4] size 2 shift 1 : tensor<?x4x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  return
}
