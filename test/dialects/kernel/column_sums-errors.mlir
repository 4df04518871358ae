// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @column_sums_c1(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is 'tensor<?x8xf32>' but must be f32 [P] where P divides the columns of input 0, 8}}
  %0 = kernel.column_sums ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @column_sums_c1_first(%x: tensor<1x8xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{input 0 is 'tensor<1x8xf32>' but must be [?, 8]}}
  %0 = kernel.column_sums ins(%x : tensor<1x8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @column_sums_c1_shape(%x: tensor<?x7xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{outs is 'tensor<8xf32>' but must be f32 [P] where P divides the columns of input 0, 7}}
  %0 = kernel.column_sums ins(%x : tensor<?x7xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @column_sums_c1_type(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>, %o: tensor<8xf32>) {
  // expected-error @+1 {{input 1 is 'tensor<8xbf16>' but must be f32 [?, 8], [8], [1, 8], [?, 1] or [1]}}
  %0 = kernel.column_sums ins(%x, %w : tensor<?x8xbf16>, tensor<8xbf16>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @column_sums_c2(%x: tensor<?x8xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{region has 1 arguments but 2 are needed, one per input}}
  %0 = kernel.column_sums ins(%x, %x : tensor<?x8xf32>, tensor<?x8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @column_sums_c3(%x: tensor<?x8xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.column_sums ins(%x : tensor<?x8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  }
  return
}

// -----

func.func @column_sums_c1_none(%o: tensor<8xf32>) {
  // expected-error @+1 {{has no input}}
  %0 = "kernel.column_sums"(%o) ({
  ^bb0:
    %c = arith.constant 0.0 : f32
    kernel.yield %c : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @column_sums_c1_others(%x: tensor<?x8xf32>, %y: tensor<?x7xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{input 1 is 'tensor<?x7xf32>' but must be f32 [?, 8], [8], [1, 8], [?, 1] or [1]}}
  %0 = kernel.column_sums ins(%x, %y : tensor<?x8xf32>, tensor<?x7xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @column_sums_c4(%x: tensor<?x2xf32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{outs is 'tensor<?x4xf32>' but must be f32 of one dimension or two}}
  %0 = kernel.column_sums ins(%x : tensor<?x2xf32>) outs(%o : tensor<?x4xf32>) to [0, 1] {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<?x4xf32>
  return
}

// -----

func.func @column_sums_c4_count(%x: tensor<?x2xf32>, %o: tensor<4xf32>) {
  // expected-error @+1 {{to has 3 numbers but input 0 has 2 columns}}
  %0 = kernel.column_sums ins(%x : tensor<?x2xf32>) outs(%o : tensor<4xf32>) to [0, 1, 2] {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @column_sums_c4_number(%x: tensor<?x2xf32>, %o: tensor<2x2xf32>) {
  // expected-error @+1 {{to has 4 but outs has 4 numbers}}
  %0 = kernel.column_sums ins(%x : tensor<?x2xf32>) outs(%o : tensor<2x2xf32>) to [0, 4] {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<2x2xf32>
  return
}
