// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @remember_c1(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x4xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{outs is 'tensor<?x8xf32>' but input is 'tensor<?x4xf32>'}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @remember_c2(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{writes to outs that kernel.recall does not give}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%k : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @remember_c3(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32>
  return
}

// -----

func.func @remember_c4_heads(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{has panels but no heads}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows panels keys outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @remember_c4_panels(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{has heads but no panels}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows heads 2 outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @remember_c4_columns(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{has 'tensor<?x8xf32>' but heads is 3}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows panels keys heads 3 outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}
