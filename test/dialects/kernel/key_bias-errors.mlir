// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @key_bias_mask(%m: tensor<?xi1>, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{operand #0 must be i32 [rows], but got 'tensor<?xi1>'}}
  %b = kernel.key_bias %m outs(%o : tensor<?x1xf32>) : tensor<?xi1> -> tensor<?x1xf32>
  return
}

// -----

func.func @key_bias_out(%m: tensor<?xi32>, %o: tensor<3x5xf64>) {
  // expected-error @+1 {{operand #1 must be f32 [rows, 1], but got 'tensor<3x5xf64>'}}
  %b = kernel.key_bias %m outs(%o : tensor<3x5xf64>) : tensor<?xi32> -> tensor<3x5xf64>
  return
}

// -----

func.func @key_bias_c1(%m: tensor<?xi32>, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.key_bias %m outs(%o : tensor<?x1xf32>) : tensor<?xi32>
  return
}
