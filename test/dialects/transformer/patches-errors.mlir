// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @patches_c1(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{pixels are [?, 8] but must be [batch, c, h, w] or [batch, c, w], all but batch fixed}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patches_c1_dynamic(%x: tensor<?x3x?x8xf32>) {
  // expected-error @+1 {{pixels are [?, 3, ?, 8] but must be [batch, c, h, w] or [batch, c, w], all but batch fixed}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x?x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patches_c1_empty(%x: tensor<?x3x0x8xf32>) {
  // expected-error @+1 {{pixels are [?, 3, 0, 8] but must be [batch, c, h, w] or [batch, c, w], all but batch fixed}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x0x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patches_c2(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{kernel must be two numbers >= 1}}
  %p = transformer.patches %x kernel [4] stride [4, 4] padding [0, 0] : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patches_c2_stride(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{stride must be two numbers >= 1}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 0] padding [0, 0] : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patches_c2_padding(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{padding must be two numbers >= 0}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [-1, 0] : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patches_c2_prefix(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{prefix is -1 but must be >= 0}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [0, 0] prefix -1 : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patches_c3(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{result is [?, 4, 48] but must be [?, 5, 48]}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x8x8xf32> -> tensor<?x4x48xf32>
  return
}

// -----

func.func @patches_c3_channels(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{result is [?, 5, 16] but must be [?, 5, 48]}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x8x8xf32> -> tensor<?x5x16xf32>
  return
}

// -----

func.func @patches_c3_dynamic(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{result is [?, ?, 48] but must be [?, 5, 48]}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x8x8xf32> -> tensor<?x?x48xf32>
  return
}

// -----

func.func @patches_c3_kernel(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{kernel is 9 but the image has 8 pixels}}
  %p = transformer.patches %x kernel [4, 9] stride [4, 4] padding [0, 0] : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

// A spectrogram has one row.
func.func @patches_c3_rows(%x: tensor<?x80x3000xf32>) {
  // expected-error @+1 {{kernel is 3 but the image has 1 pixels}}
  %p = transformer.patches %x kernel [3, 3] stride [1, 1] padding [0, 1] : tensor<?x80x3000xf32> -> tensor<?x5x48xf32>
  return
}

// -----

// Twice the padding does not fit 64 bits.
func.func @patches_c3_padding(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{has more patches than any memory}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [9223372036854775807, 0] : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patches_c3_tokens(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{has more patches than any memory}}
  %p = transformer.patches %x kernel [1, 1] stride [1, 1] padding [4611686018427387000, 4611686018427387000] : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

// The kernel has 3 * 2^64 elements.
func.func @patches_c3_large(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{has more patches than any memory}}
  %p = transformer.patches %x kernel [4294967296, 4294967296] stride [1, 1] padding [4294967296, 4294967296] : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patches_c3_prefix(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{has more patches than any memory}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [0, 0] prefix 9223372036854775807 : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
  return
}

// -----

func.func @patches_c1_no_grid(%x: tensor<?x3x?x?xf32>) {
  // expected-error @+1 {{pixels are [?, 3, ?, ?] but are no input with transformer.grid}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x?x?xf32> -> tensor<?x?x48xf32>
  return
}

// -----

func.func @patches_c1_stride(%x: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "image_tokens", patch = [4, 4], own = [8, 8], prefix = 1>}) {
  // expected-error @+1 {{kernel is [4, 4], stride [2, 4] and padding [0, 0] but an image of run-time sides has patches that neither meet nor leave gaps}}
  %p = transformer.patches %x kernel [4, 4] stride [2, 4] padding [0, 0] prefix 1 : tensor<?x3x?x?xf32> -> tensor<?x?x48xf32>
  return
}

// -----

func.func @patches_c1_prefix(%x: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "image_tokens", patch = [4, 4], own = [8, 8], prefix = 1>}) {
  // expected-error @+1 {{patch is [4, 4] and prefix 2 but the input has #transformer.grid<tokens = "image_tokens", patch = [4, 4], own = [8, 8], prefix = 1>}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [0, 0] prefix 2 : tensor<?x3x?x?xf32> -> tensor<?x?x48xf32>
  return
}

// -----

func.func @patches_c3_sized(%x: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "image_tokens", patch = [4, 4], own = [8, 8], prefix = 1>}) {
  // expected-error @+1 {{result is [?, 5, 48] but must be [?, ?, 48]}}
  %p = transformer.patches %x kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x?x?xf32> -> tensor<?x5x48xf32>
  return
}
