// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @dropout_c1(%x: tensor<?x8xf32>, %n: tensor<?xi32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{step is 'tensor<?xi32>' but must be i32 [1]}}
  %0 = kernel.dropout %x step %n first %n tokens %t rate 0.1 seed 1 site 0 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32> -> tensor<?x8xf32>
  return
}

// -----

func.func @dropout_c2(%x: tensor<?x8xf32>, %n: tensor<1xi32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{rate is 1.0 but must be at least 0 and below 1}}
  %0 = kernel.dropout %x step %n first %n tokens %t rate 1.0 seed 1 site 0 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<1xi32>, tensor<1xi32> -> tensor<?x8xf32>
  return
}

// -----

func.func @dropout_c2_seed(%x: tensor<?x8xf32>, %n: tensor<1xi32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{seed is -1 but must be at least 0 and below 2^32}}
  %0 = kernel.dropout %x step %n first %n tokens %t rate 0.1 seed -1 site 0 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<1xi32>, tensor<1xi32> -> tensor<?x8xf32>
  return
}

// -----

func.func @dropout_c2_site(%x: tensor<?x8xf32>, %n: tensor<1xi32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{site is 4294967296 but must be at least 0 and below 2^32}}
  %0 = kernel.dropout %x step %n first %n tokens %t rate 0.1 seed 1 site 4294967296 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<1xi32>, tensor<1xi32> -> tensor<?x8xf32>
  return
}

// -----

func.func @dropout_c2_after(%x: tensor<?x8xf32>, %n: tensor<1xi32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{after is -1 but must be at least 0 and below 2^32}}
  %0 = kernel.dropout %x step %n first %n tokens %t rate 0.1 seed 1 site 0 after -1 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<1xi32>, tensor<1xi32> -> tensor<?x8xf32>
  return
}

// -----

func.func @dropout_c3(%x: tensor<?x8xf32>, %n: tensor<1xi32>, %t: index, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{input has 8 columns but outs has 4}}
  %0 = kernel.dropout %x step %n first %n tokens %t rate 0.1 seed 1 site 0 outs(%o : tensor<?x4xf32>) : tensor<?x8xf32>, tensor<1xi32>, tensor<1xi32> -> tensor<?x4xf32>
  return
}

// -----

func.func @dropout_c4(%x: tensor<?x8xf32>, %n: tensor<1xi32>, %t: index) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.dropout %x step %n first %n tokens %t rate 0.1 seed 1 site 0 outs(%x : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<1xi32>, tensor<1xi32>
  return
}
