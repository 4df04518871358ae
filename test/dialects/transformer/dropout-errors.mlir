// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @dropout_c1(%x: tensor<?x?x8xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{step is [2] but a number is [1]}}
  %0 = transformer.dropout %x step %n first %n rate 0.1 seed 1 site 0 : tensor<?x?x8xf32>, tensor<2xi32>, tensor<2xi32>
  return
}

// -----

func.func @dropout_c2(%x: tensor<?x?x8xf32>, %n: tensor<1xi32>) {
  // expected-error @+1 {{rate is -0.1 but must be at least 0 and below 1}}
  %0 = transformer.dropout %x step %n first %n rate -0.1 seed 1 site 0 : tensor<?x?x8xf32>, tensor<1xi32>, tensor<1xi32>
  return
}
