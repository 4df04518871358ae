// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @patch_table_c1(%x: tensor<?x3x8xf32>) {
  // expected-error @+1 {{pixels are [?, 3, 8] but must be [batch, c, h, w], c fixed}}
  %p = transformer.patch_table of %x patch [4, 4] prefix 1 base @b table @t own [3, 3] placed 1 resize bicubic : tensor<?x3x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patch_table_c1_side(%x: tensor<?x3x?x8xf32>) {
  // expected-error @+1 {{pixels are [?, 3, ?, 8] but must be [batch, c, h, w], c fixed}}
  %p = transformer.patch_table of %x patch [4, 4] prefix 1 base @b table @t own [3, 3] placed 1 resize bicubic : tensor<?x3x?x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patch_table_c1_grid(%x: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "image_tokens", patch = [4, 4], own = [8, 8], prefix = 1>}) {
  // expected-error @+1 {{patch is [4, 2] and prefix 1 but the input has}}
  %p = transformer.patch_table of %x patch [4, 2] prefix 1 base @b table @t own [3, 3] placed 1 resize bicubic : tensor<?x3x?x?xf32> -> tensor<?x?x48xf32>
  return
}

// -----

func.func @patch_table_c1_no_grid(%x: tensor<?x3x?x?xf32>) {
  // expected-error @+1 {{pixels are [?, 3, ?, ?] but are no input with transformer.grid}}
  %p = transformer.patch_table of %x patch [4, 4] prefix 1 base @b table @t own [3, 3] placed 1 resize bicubic : tensor<?x3x?x?xf32> -> tensor<?x?x48xf32>
  return
}

// -----

func.func @patch_table_c2(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{patch is [4] but must be two numbers from 1 to 2147483647}}
  %p = transformer.patch_table of %x patch [4] prefix 1 base @b table @t own [3, 3] placed 1 resize bicubic : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patch_table_c2_zero(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{patch is [0, 4] but must be two numbers from 1 to 2147483647}}
  %p = transformer.patch_table of %x patch [0, 4] prefix 1 base @b table @t own [3, 3] placed 1 resize bicubic : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patch_table_c2_prefix(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{prefix is -1 but must be from 0 to 2147483647}}
  %p = transformer.patch_table of %x patch [4, 4] prefix -1 base @b : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patch_table_c2_placed(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{placed is 2 but must be from 0 to 1}}
  %p = transformer.patch_table of %x patch [4, 4] prefix 1 base @b table @t own [3, 3] placed 2 resize bicubic : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patch_table_c3(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{has neither base nor table}}
  %p = transformer.patch_table of %x patch [4, 4] prefix 1 : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

transformer.model @patch_table_c3_shape {
  // expected-note @+1 {{@b is given here}}
  transformer.parameter @b : tensor<2x48xf32> = #transformer.stored<"f", "b", tensor<2x48xf32>>
  transformer.parameter @t : tensor<10x48xf32> = #transformer.stored<"f", "t", tensor<10x48xf32>>
  func.func @forward(%x: tensor<?x3x8x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{base @b is [2, 48] but must be [3, 48]}}
    %p = transformer.patch_table of %x patch [4, 4] prefix 2 base @b : tensor<?x3x8x8xf32> -> tensor<?x6x48xf32>
    return
  }
}

// -----

func.func @patch_table_c4(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{must have all of table, own and resize, or none}}
  %p = transformer.patch_table of %x patch [4, 4] prefix 1 base @b own [3, 3] : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patch_table_c4_own(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{own is [3, 0] but must be two numbers from 1 to 2147483647}}
  %p = transformer.patch_table of %x patch [4, 4] prefix 1 base @b table @t own [3, 0] placed 1 resize bicubic : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

transformer.model @patch_table_c4_shape {
  transformer.parameter @b : tensor<2x48xf32> = #transformer.stored<"f", "b", tensor<2x48xf32>>
  // expected-note @+1 {{@t is given here}}
  transformer.parameter @t : tensor<10x48xf32> = #transformer.stored<"f", "t", tensor<10x48xf32>>
  func.func @forward(%x: tensor<?x3x8x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{table @t is [10, 48] but must be [13, 48]}}
    %p = transformer.patch_table of %x patch [4, 4] prefix 1 base @b table @t own [3, 4] placed 1 resize bicubic : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
    return
  }
}

// -----

func.func @patch_table_c4_placed(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{placed is 1 but must be from 0 to 0}}
  %p = transformer.patch_table of %x patch [4, 4] prefix 1 base @b placed 1 : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patch_table_c5(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{result is [?, 4, 48] but must be [?, 5, 48]}}
  %p = transformer.patch_table of %x patch [4, 4] prefix 1 base @b table @t own [3, 3] placed 1 resize bicubic : tensor<?x3x8x8xf32> -> tensor<?x4x48xf32>
  return
}

// -----

func.func @patch_table_c5_sized(%x: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "image_tokens", patch = [4, 4], own = [8, 8], prefix = 1>}) {
  // expected-error @+1 {{result is [?, 5, 48] but must be [?, ?, 48]}}
  %p = transformer.patch_table of %x patch [4, 4] prefix 1 base @b table @t own [3, 3] placed 1 resize bicubic : tensor<?x3x?x?xf32> -> tensor<?x5x48xf32>
  return
}
