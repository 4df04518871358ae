// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @shift_c1(%i: tensor<?xi32>) {
  // expected-error @+1 {{the number is 4294967296 but must be an i32}}
  %0 = kernel.shift %i by 4294967296 outs(%i : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
  return
}

// -----

func.func @shift_c2(%i: tensor<?xi32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.shift %i by 1 outs(%i : tensor<?xi32>) : tensor<?xi32>
  return
}
