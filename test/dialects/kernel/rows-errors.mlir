// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @rows_c1(%i0: tensor<?x8xf32>, %i1: tensor<4xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{input 1 is 'tensor<4xf32>' but must be f32 [?, 8], [8], [1, 8], [?, 1] or [1]}}
  %y = kernel.rows ins(%i0, %i1 : tensor<?x8xf32>, tensor<4xf32>) outs(%o : tensor<?x8xf32>) gather [-1, -1] {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c1_outs(%i0: tensor<?x8xf32>, %i1: tensor<8xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{outs is 'tensor<8xf32>' but must be f32, bf16 or f16 [rows, columns]}}
  %y = kernel.rows ins(%i0, %i1 : tensor<?x8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) gather [-1, -1] {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @rows_c1_gathered(%i0: tensor<64x4xf32>, %i1: tensor<8xf32>, %o: tensor<?x8xf32>, %n0: tensor<?xi32>) {
  // expected-error @+1 {{gathered input 0 is 'tensor<64x4xf32>' but must be f32 or bf16 [entries, 8]}}
  %y = kernel.rows ins(%i0, %i1 : tensor<64x4xf32>, tensor<8xf32>) indices(%n0 : tensor<?xi32>) outs(%o : tensor<?x8xf32>) gather [0, -1] {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c2(%i0: tensor<?x8xf32>, %i1: tensor<8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{gather has 1 entries but there are 2 inputs}}
  %y = kernel.rows ins(%i0, %i1 : tensor<?x8xf32>, tensor<8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c2_number(%i0: tensor<64x8xf32>, %i1: tensor<8xf32>, %o: tensor<?x8xf32>, %n0: tensor<?xi32>) {
  // expected-error @+1 {{gather[0] is 1 but there are 1 indices}}
  %y = kernel.rows ins(%i0, %i1 : tensor<64x8xf32>, tensor<8xf32>) indices(%n0 : tensor<?xi32>) outs(%o : tensor<?x8xf32>) gather [1, -1] {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c3(%i0: tensor<64x8xf32>, %i1: tensor<8xf32>, %o: tensor<?x8xf32>, %n0: tensor<?xi64>) {
  // expected-error @+1 {{indices are 'tensor<?xi64>' but must be i32 [?]}}
  %y = kernel.rows ins(%i0, %i1 : tensor<64x8xf32>, tensor<8xf32>) indices(%n0 : tensor<?xi64>) outs(%o : tensor<?x8xf32>) gather [0, -1] {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c4(%i0: tensor<?x8xf32>, %i1: tensor<8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{region has 1 arguments but 2 are needed, one per input}}
  %y = kernel.rows ins(%i0, %i1 : tensor<?x8xf32>, tensor<8xf32>) outs(%o : tensor<?x8xf32>) gather [-1, -1] {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c5(%i0: tensor<8xf32>, %i1: tensor<8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{input 0 is 'tensor<8xf32>' but a normed one must be [?, 8] or gathered}}
  %y = kernel.rows ins(%i0, %i1 : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<?x8xf32>) gather [-1, -1] norm <rms, 1.0e-06> {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c5_none(%o: tensor<?x8xf32>) {
  // expected-error @+1 {{has a norm but no input}}
  %y = kernel.rows ins() outs(%o : tensor<?x8xf32>) gather [] norm <rms, 1.0e-06> {
  ^bb0:
    %c = arith.constant 1.0 : f32
    kernel.yield %c : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c6(%i0: tensor<?x8xf32>, %i1: tensor<8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.rows ins(%i0, %i1 : tensor<?x8xf32>, tensor<8xf32>) outs(%o : tensor<?x8xf32>) gather [-1, -1] {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  }
  return
}

// -----

func.func @rows_c5_group(%i0: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{norms groups of 3 of 8 columns}}
  %y = kernel.rows ins(%i0 : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] norm <rms, 1.0e-06, group = 3> {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c5_group_sign(%i0: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{norms groups of -4 of 8 columns}}
  %y = kernel.rows ins(%i0 : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] norm <rms, 1.0e-06, group = -4> {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c5_eps(%i0: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{norms with an eps of -1.0, which is not finite and >= 0}}
  %y = kernel.rows ins(%i0 : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] norm <rms, -1.0> {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c4_op(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{region holds arith.remf, which no kernel computes}}
  %y = kernel.rows ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] {
  ^bb0(%a: f32):
    %b = arith.remf %a, %a : f32
    kernel.yield %b : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c4_comparison(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{region compares by ugt but kernels compare by oeq, ogt, oge, olt, ole and une}}
  %y = kernel.rows ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] {
  ^bb0(%a: f32):
    %c = arith.cmpf ugt, %a, %a : f32
    %b = arith.select %c, %a, %a : f32
    kernel.yield %b : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c4_constant(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{region reads the constant true but constants are f32}}
  %y = kernel.rows ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] {
  ^bb0(%a: f32):
    %c = arith.constant true
    %b = arith.select %c, %a, %a : f32
    kernel.yield %b : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c4_moved_constant(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f64
  %y = kernel.rows ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] {
  ^bb0(%a: f32):
    kernel.yield %one : f32
  } -> tensor<?x8xf32>
  // expected-error @+1 {{region reads the constant 2.000000e+00 : f64 but constants are f32}}
  %z = kernel.rows ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] {
  ^bb0(%a: f32):
    %b = arith.cmpf ogt, %two, %two : f64
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @rows_c4_outside(%x: tensor<?x8xf32>, %n: f32, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{region reads a 'f32' of another region but only a constant may be of one}}
  %y = kernel.rows ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] {
  ^bb0(%a: f32):
    %b = arith.addf %a, %n : f32
    kernel.yield %b : f32
  } -> tensor<?x8xf32>
  return
}
