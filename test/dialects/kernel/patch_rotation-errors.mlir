// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @patch_rotation_c1(%h: index, %w: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{patch is [4, 0] but must be two numbers from 1 to 2147483647}}
  %r = kernel.patch_rotation height %h width %w patch [4, 0] prefix 1 theta 100.0 head_dim 8 outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_rotation_c1_prefix(%h: index, %w: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{prefix is -1 but must be from 0 to 2147483647}}
  %r = kernel.patch_rotation height %h width %w patch [4, 4] prefix -1 theta 100.0 head_dim 8 outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_rotation_c2(%h: index, %w: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{theta is nan but must be > 0 and finite}}
  %r = kernel.patch_rotation height %h width %w patch [4, 4] prefix 1 theta 0x7FF8000000000000 head_dim 8 outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_rotation_c2_head(%h: index, %w: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{head_dim is 0 but must be >= 4}}
  %r = kernel.patch_rotation height %h width %w patch [4, 4] prefix 1 theta 100.0 head_dim 0 outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_rotation_c3(%h: index, %w: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs has 8 columns but must have 12}}
  %r = kernel.patch_rotation height %h width %w patch [4, 4] prefix 1 theta 100.0 head_dim 12 outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_rotation_c4(%h: index, %w: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.patch_rotation height %h width %w patch [4, 4] prefix 1 theta 100.0 head_dim 8 outs(%o : tensor<?x8xf32>)
  return
}
