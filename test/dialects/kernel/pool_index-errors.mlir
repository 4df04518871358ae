// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @pool_index_mask(%m: tensor<?xi1>, %t: index, %o: tensor<?xi32>) {
  // expected-error @+1 {{operand #0 must be i32 [rows], but got 'tensor<?xi1>'}}
  %i = kernel.pool_index of %m : tensor<?xi1> tokens %t kind last skip 0 id 0 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @pool_index_c1_mean(%m: tensor<?xi32>, %t: index, %o: tensor<?xi32>) {
  // expected-error @+1 {{kind is mean but that is no token}}
  %i = kernel.pool_index of %m : tensor<?xi32> tokens %t kind mean skip 0 id 0 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @pool_index_c1_ids(%m: tensor<?xi32>, %t: index, %o: tensor<?xi32>) {
  // expected-error @+1 {{kind is first_id but there are no ids}}
  %i = kernel.pool_index tokens %t kind first_id skip 0 id 0 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @pool_index_c2(%m: tensor<?xi32>, %t: index, %o: tensor<?xi32>) {
  // expected-error @+1 {{skip is -5 but must be >= 0}}
  %i = kernel.pool_index tokens %t kind first skip -5 id 0 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @pool_index_c2_kind(%m: tensor<?xi32>, %t: index, %o: tensor<?xi32>) {
  // expected-error @+1 {{skip is 2 but kind is last}}
  %i = kernel.pool_index of %m : tensor<?xi32> tokens %t kind last skip 2 id 0 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @pool_index_c2_id(%m: tensor<?xi32>, %t: index, %o: tensor<?xi32>) {
  // expected-error @+1 {{id is 4294967296 but must be an i32}}
  %i = kernel.pool_index of %m : tensor<?xi32> tokens %t kind first_id skip 0 id 4294967296 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @pool_index_c3(%m: tensor<?xi32>, %t: index, %o: tensor<?xi32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.pool_index tokens %t kind first skip 0 id 0 outs(%o : tensor<?xi32>)
  return
}
