// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @query_scale_mask(%m: tensor<?x1xi32>, %t: index, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{operand #0 must be i32 [rows], but got 'tensor<?x1xi32>'}}
  %s = kernel.query_scale key_mask %m : tensor<?x1xi32> tokens %t scale <log_keys, base = 512.0, floor = 16.0> causal true outs(%o : tensor<?x1xf32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @query_scale_c1(%p: tensor<?xi32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{scale is log_floor but there are no positions}}
  %s = kernel.query_scale tokens %t scale <log_floor, beta = 0.3, period = 8192, offset = 1> causal false outs(%o : tensor<?x1xf32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @query_scale_c1_given(%p: tensor<?xi32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{scale is log_keys but there are positions}}
  %s = kernel.query_scale positions %p : tensor<?xi32> tokens %t scale <log_keys, base = 512.0, floor = 16.0> causal false outs(%o : tensor<?x1xf32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @query_scale_c2(%p: tensor<?xi32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{scale is log_floor but there is a key_mask}}
  %s = kernel.query_scale positions %p : tensor<?xi32> key_mask %m : tensor<?xi32> tokens %t scale <log_floor, beta = 0.3, period = 8192, offset = 1> causal false outs(%o : tensor<?x1xf32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @query_scale_c3(%p: tensor<?xi32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{window must be two numbers >= 0, left and right}}
  %s = kernel.query_scale tokens %t scale <log_keys, base = 512.0, floor = 16.0> causal true window [4] outs(%o : tensor<?x1xf32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @query_scale_c3_sign(%p: tensor<?xi32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{window must be two numbers >= 0, left and right}}
  %s = kernel.query_scale tokens %t scale <log_keys, base = 512.0, floor = 16.0> causal true window [4, -1] outs(%o : tensor<?x1xf32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @query_scale_c4(%p: tensor<?xi32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.query_scale tokens %t scale <log_keys, base = 512.0, floor = 16.0> causal true outs(%o : tensor<?x1xf32>)
  return
}

// -----

func.func @query_scale_c5(%past: tensor<?xi32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{has past and counts keys but is not causal}}
  %s = kernel.query_scale key_mask %m : tensor<?xi32> past %past : tensor<?xi32> tokens %t scale <log_keys, base = 512.0, floor = 16.0> causal false outs(%o : tensor<?x1xf32>) -> tensor<?x1xf32>
  return
}
