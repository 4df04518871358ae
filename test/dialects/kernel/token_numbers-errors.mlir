// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @token_numbers_out(%o: tensor<?xi64>) {
  // expected-error @+1 {{operand #0 must be i32 [rows], but got 'tensor<?xi64>'}}
  %p = kernel.token_numbers [0] outs(%o : tensor<?xi64>) -> tensor<?xi64>
  return
}

// -----

func.func @token_numbers_c1(%o: tensor<?xi32>) {
  // expected-error @+1 {{has no numbers}}
  %p = kernel.token_numbers [] outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @token_numbers_c1_range(%o: tensor<?xi32>) {
  // expected-error @+1 {{a number is 2147483648 but must be an i32}}
  %p = kernel.token_numbers [0, 2147483648] outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @token_numbers_c2(%o: tensor<?xi32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.token_numbers [0] outs(%o : tensor<?xi32>)
  return
}
