// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @patch_table_c1(%h: index, %w: index, %b: tensor<2x8xf32>, %t: tensor<10x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{patch is [4, 0] but must be two numbers from 1 to 2147483647}}
  %r = kernel.patch_table height %h width %w base %b : tensor<2x8xf32> table %t : tensor<10x8xf32> patch [4, 0] prefix 1 own [3, 3] placed 1 resize bicubic outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_table_c1_prefix(%h: index, %w: index, %b: tensor<2x8xf32>, %t: tensor<10x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{prefix is -1 but must be from 0 to 2147483647}}
  %r = kernel.patch_table height %h width %w base %b : tensor<2x8xf32> table %t : tensor<10x8xf32> patch [4, 4] prefix -1 own [3, 3] placed 1 resize bicubic outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_table_c1_placed(%h: index, %w: index, %b: tensor<2x8xf32>, %t: tensor<10x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{placed is 2 but must be from 0 to 1}}
  %r = kernel.patch_table height %h width %w base %b : tensor<2x8xf32> table %t : tensor<10x8xf32> patch [4, 4] prefix 1 own [3, 3] placed 2 resize bicubic outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_table_c2(%h: index, %w: index, %b: tensor<2x8xf32>, %t: tensor<10x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{has neither base nor table}}
  %r = kernel.patch_table height %h width %w patch [4, 4] prefix 1 outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_table_c2_base(%h: index, %w: index, %b: tensor<2x8xf32>, %t: tensor<10x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{base is 'tensor<2x8xf32>' but must be f32 [3, 8]}}
  %r = kernel.patch_table height %h width %w base %b : tensor<2x8xf32> table %t : tensor<10x8xf32> patch [4, 4] prefix 2 own [3, 3] placed 1 resize bicubic outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_table_c3(%h: index, %w: index, %b: tensor<2x8xf32>, %t: tensor<10x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{must have all of table, own and resize, or none}}
  %r = kernel.patch_table height %h width %w base %b : tensor<2x8xf32> patch [4, 4] prefix 1 own [3, 3] outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_table_c3_own(%h: index, %w: index, %b: tensor<2x8xf32>, %t: tensor<10x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{own is [3] but must be two numbers from 1 to 2147483647}}
  %r = kernel.patch_table height %h width %w base %b : tensor<2x8xf32> table %t : tensor<10x8xf32> patch [4, 4] prefix 1 own [3] placed 1 resize bicubic outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_table_c3_table(%h: index, %w: index, %b: tensor<2x8xf32>, %t: tensor<10x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{table is 'tensor<10x8xf32>' but must be f32 [13, 8]}}
  %r = kernel.patch_table height %h width %w base %b : tensor<2x8xf32> table %t : tensor<10x8xf32> patch [4, 4] prefix 1 own [3, 4] placed 1 resize bicubic outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_table_c3_placed(%h: index, %w: index, %b: tensor<2x8xf32>, %t: tensor<10x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{placed is 1 but must be from 0 to 0}}
  %r = kernel.patch_table height %h width %w base %b : tensor<2x8xf32> patch [4, 4] prefix 1 placed 1 outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @patch_table_c4(%h: index, %w: index, %b: tensor<2x8xf32>, %t: tensor<10x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.patch_table height %h width %w base %b : tensor<2x8xf32> table %t : tensor<10x8xf32> patch [4, 4] prefix 1 own [3, 3] placed 1 resize bicubic outs(%o : tensor<?x8xf32>)
  return
}
