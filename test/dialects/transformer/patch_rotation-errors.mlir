// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @patch_rotation_c1(%x: tensor<?x3x?x?xf32>) {
  // expected-error @+1 {{pixels are [?, 3, ?, ?] but are no input with transformer.grid}}
  %r = transformer.patch_rotation of %x patch [4, 4] prefix 1 theta 100.0 head_dim 9 : tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @patch_rotation_c2(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{patch is [4, -4] but must be two numbers from 1 to 2147483647}}
  %r = transformer.patch_rotation of %x patch [4, -4] prefix 1 theta 100.0 head_dim 9 : tensor<?x3x8x8xf32> -> tensor<?x5x8xf32>
  return
}

// -----

func.func @patch_rotation_c2_prefix(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{prefix is 2147483648 but must be from 0 to 2147483647}}
  %r = transformer.patch_rotation of %x patch [4, 4] prefix 2147483648 theta 100.0 head_dim 9 : tensor<?x3x8x8xf32> -> tensor<?x5x8xf32>
  return
}

// -----

func.func @patch_rotation_c3(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{theta is 0.0 but must be > 0 and finite}}
  %r = transformer.patch_rotation of %x patch [4, 4] prefix 1 theta 0.0 head_dim 9 : tensor<?x3x8x8xf32> -> tensor<?x5x8xf32>
  return
}

// -----

func.func @patch_rotation_c3_infinite(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{theta is inf but must be > 0 and finite}}
  %r = transformer.patch_rotation of %x patch [4, 4] prefix 1 theta 0x7FF0000000000000 head_dim 9 : tensor<?x3x8x8xf32> -> tensor<?x5x8xf32>
  return
}

// -----

func.func @patch_rotation_c3_head(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{head_dim is 3 but must be >= 4}}
  %r = transformer.patch_rotation of %x patch [4, 4] prefix 1 theta 100.0 head_dim 3 : tensor<?x3x8x8xf32> -> tensor<?x5x8xf32>
  return
}

// -----

func.func @patch_rotation_c4(%x: tensor<?x3x8x8xf32>) {
  // expected-error @+1 {{result is [?, 5, 10] but must be [?, 5, 8]}}
  %r = transformer.patch_rotation of %x patch [4, 4] prefix 1 theta 100.0 head_dim 9 : tensor<?x3x8x8xf32> -> tensor<?x5x10xf32>
  return
}
