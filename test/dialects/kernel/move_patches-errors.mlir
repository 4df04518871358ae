// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @move_patches_c1(%h: index, %w: index, %x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{side is [4, 32768] but must be two numbers from 1 to 32767}}
  %y = kernel.move_patches %x height %h width %w move into_windows side [4, 32768] size 7 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @move_patches_c1_size(%h: index, %w: index, %x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{size is 7 and shift -1 but 0 <= shift < size < 32768}}
  %y = kernel.move_patches %x height %h width %w move out_of_windows side [4, 4] size 7 shift -1 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @move_patches_c1_merge(%h: index, %w: index, %x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{size is 7 and shift 0 but merge has neither}}
  %y = kernel.move_patches %x height %h width %w move merge side [4, 4] size 7 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @move_patches_c2(%h: index, %w: index, %x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs has 8 columns but must have 32}}
  %y = kernel.move_patches %x height %h width %w move merge side [4, 4] outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @move_patches_c3(%h: index, %w: index, %x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.move_patches %x height %h width %w move into_windows side [4, 4] size 7 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>
  return
}
