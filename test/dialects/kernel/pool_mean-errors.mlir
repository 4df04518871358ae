// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @pool_mean_mask(%x: tensor<?x8xf32>, %m: tensor<?xf32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{operand #1 must be i32 [rows], but got 'tensor<?xf32>'}}
  %y = kernel.pool_mean %x key_mask %m : tensor<?xf32> tokens %t outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_mean_c1(%x: tensor<?x8xf32>, %t: index, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{input has 8 columns but outs has 4}}
  %y = kernel.pool_mean %x tokens %t outs(%o : tensor<?x4xf32>) : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @pool_mean_c2(%x: tensor<?x8xf32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{skip is -1 but must be >= 0}}
  %y = kernel.pool_mean %x tokens %t skip -1 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_mean_c3(%x: tensor<?x8xf32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.pool_mean %x tokens %t outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>
  return
}
