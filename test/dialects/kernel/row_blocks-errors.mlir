// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @row_blocks_c1(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{rows is 0 but must be at least 1}}
  %r = kernel.row_blocks rows 0 ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%n: index, %z: tensor<?x8xf32>):
    kernel.yield %z : tensor<?x8xf32>
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @row_blocks_c1_none(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{has no input}}
  "kernel.row_blocks"() <{rows = 4 : i64, operandSegmentSizes = array<i32: 0, 0>}> ({
  ^bb0(%n: index):
    kernel.yield
  }) : () -> ()
  return
}

// -----

func.func @row_blocks_c2(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @+1 {{has an operand 'tensor<4x8xf32>' but all must be [?] or [?, N]}}
  %r = kernel.row_blocks rows 4 ins(%x, %w : tensor<?x8xf32>, tensor<4x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%n: index, %z: tensor<?x8xf32>, %v: tensor<4x8xf32>):
    kernel.yield %z : tensor<?x8xf32>
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @row_blocks_c2_rows(%b: index {kernel.size = "batch"}, %x: tensor<?x8xf32> {transformer.shape = #transformer.shape<batch, 8>}, %y: tensor<?x8xf32> {transformer.shape = #transformer.shape<batch, tokens, 8>}) {
  // expected-error @+1 {{an operand has batch * tokens rows but operand 0 has batch}}
  %r = kernel.row_blocks rows 4 ins(%x, %y : tensor<?x8xf32>, tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%n: index, %z: tensor<?x8xf32>, %v: tensor<?x8xf32>):
    kernel.yield %z : tensor<?x8xf32>
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @row_blocks_c3(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{has a body that takes 'tensor<?x8xf32>' but must take 'index', 'tensor<?x8xf32>'}}
  %r = kernel.row_blocks rows 4 ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%z: tensor<?x8xf32>):
    kernel.yield %z : tensor<?x8xf32>
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @row_blocks_c3_yield(%x: tensor<?x8xf32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{has a body that must yield 1 values of the outs' types}}
  %r = kernel.row_blocks rows 4 ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x4xf32>) {
  ^bb0(%n: index, %z: tensor<?x8xf32>):
    kernel.yield %z : tensor<?x8xf32>
  } -> tensor<?x4xf32>
  return
}

// -----

func.func @row_blocks_c4(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{has 0 results but outs are tensors}}
  kernel.row_blocks rows 4 ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%n: index, %z: tensor<?x8xf32>):
    kernel.yield %z : tensor<?x8xf32>
  }
  return
}

// -----

func.func @row_blocks_c5(%x: tensor<?x8xf32>) {
  // expected-note @+1 {{here}}
  %y = kernel.layers %x slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    // expected-error @+1 {{is in a loop or in a launch}}
    %r = kernel.row_blocks rows 4 ins(%s : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {
    ^bb0(%n: index, %z: tensor<?x8xf32>):
      kernel.yield %z : tensor<?x8xf32>
    } -> tensor<?x8xf32>
    kernel.yield %r : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}
