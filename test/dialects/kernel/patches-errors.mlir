// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @patches_c1(%x: tensor<?x192xf32>, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{image is [3, 64] but must be three numbers > 0: c, h, w}}
  %p = kernel.patches %x image [3, 64] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @patches_c1_sign(%x: tensor<?x192xf32>, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{image is [3, -8, -8] but must be three numbers > 0: c, h, w}}
  %p = kernel.patches %x image [3, -8, -8] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @patches_c1_pixels(%x: tensor<?x64xf32>, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{pixels has 64 columns but image is [3, 8, 8]}}
  %p = kernel.patches %x image [3, 8, 8] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?x64xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @patches_c1_overflow(%x: tensor<?x192xf32>, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{pixels has 192 columns but image is [3, 4294967296, 4294967296]}}
  %p = kernel.patches %x image [3, 4294967296, 4294967296] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @patches_c2(%x: tensor<?x192xf32>, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{stride must be two numbers >= 1}}
  %p = kernel.patches %x image [3, 8, 8] kernel [4, 4] stride [4, 0] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @patches_c2_length(%x: tensor<?x192xf32>, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{padding must be two numbers >= 0}}
  %p = kernel.patches %x image [3, 8, 8] kernel [4, 4] stride [4, 4] padding [0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @patches_c2_prefix(%x: tensor<?x192xf32>, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{prefix is -1 but must be >= 0}}
  %p = kernel.patches %x image [3, 8, 8] kernel [4, 4] stride [4, 4] padding [0, 0] prefix -1 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @patches_c3(%x: tensor<?x192xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{outs has 16 columns but must have 48}}
  %p = kernel.patches %x image [3, 8, 8] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x16xf32>) : tensor<?x192xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @patches_c3_kernel(%x: tensor<?x192xf32>, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{kernel is 11 but the image has 8 pixels}}
  %p = kernel.patches %x image [3, 8, 8] kernel [4, 11] stride [4, 4] padding [1, 1] prefix 0 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @patches_c3_large(%x: tensor<?x192xf32>, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{has more patches than any memory}}
  %p = kernel.patches %x image [3, 8, 8] kernel [4294967296, 4294967296] stride [4, 4] padding [4294967296, 4294967296] prefix 0 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @patches_c4(%x: tensor<?x192xf32>, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.patches %x image [3, 8, 8] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32>
  return
}

// -----

func.func @patches_c1_sides(%x: tensor<?xf32>, %h: index, %w: index, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{image is [3, 8, 8] with 2 sides but must be [c, 0, 0] with two}}
  %p = kernel.patches %x sides %h, %w image [3, 8, 8] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @patches_c1_one_side(%x: tensor<?xf32>, %h: index, %w: index, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{image is [3, 0, 0] with 1 sides but must be [c, 0, 0] with two}}
  %p = kernel.patches %x sides %h image [3, 0, 0] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @patches_c1_sized_pixels(%x: tensor<?x192xf32>, %h: index, %w: index, %o: tensor<?x48xf32>) {
  // expected-error @+1 {{pixels is 'tensor<?x192xf32>' but must be f32 [?]}}
  %p = kernel.patches %x sides %h, %w image [3, 0, 0] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
  return
}
