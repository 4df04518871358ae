// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @remember_c1(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x4xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{outs is 'tensor<?x8xf32>' but input is 'tensor<?x4xf32>'}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @remember_c1_from(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x16xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{outs is 'tensor<?x8xf32>' but input is 'tensor<?x16xf32>', from column 9}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) {kernel.from = 9 : i64} : tensor<?x16xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @remember_c1_from_below(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x16xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{has kernel.from = -1 : i64 but only remember has it, an i64 > 0}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) {kernel.from = -1 : i64} : tensor<?x16xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @remember_c1_wider(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x16xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{outs is 'tensor<?x8xf32>' but input is 'tensor<?x16xf32>'}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x16xf32> -> tensor<?x8xf32>
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

// -----

func.func @remember_c1_rank_of_bytes(%keys: tensor<2x?x4x4xi8> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x4x4xi8> -> tensor<?x4x4xi8>
  // expected-error @+1 {{outs is 'tensor<?x4x4xi8>' but input is 'tensor<?x8xf32>'}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows panels keys heads 2 outs(%h : tensor<?x4x4xi8>) : tensor<?x8xf32> -> tensor<?x4x4xi8>
  return
}

// -----

func.func @remember_c5(%keys: tensor<2x?x16xi8> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x16xi8> -> tensor<?x16xi8>
  // expected-error @+1 {{outs is 'tensor<?x16xi8>' but there are no panels}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x16xi8>) : tensor<?x8xf32> -> tensor<?x16xi8>
  return
}

// -----

func.func @remember_c5_columns(%keys: tensor<2x?x18xi8> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x18xi8> -> tensor<?x18xi8>
  // expected-error @+1 {{outs is 'tensor<?x18xi8>' but 2 heads of 4 columns have 16 bytes}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows panels keys heads 2 outs(%h : tensor<?x18xi8>) : tensor<?x8xf32> -> tensor<?x18xi8>
  return
}

// -----

func.func @remember_c5_group(%keys: tensor<2x?x20xi8> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x12xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x20xi8> -> tensor<?x20xi8>
  // expected-error @+1 {{keys in bytes have heads of 6 columns but must have a multiple of 4}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows panels keys heads 2 outs(%h : tensor<?x20xi8>) : tensor<?x12xf32> -> tensor<?x20xi8>
  return
}

// -----

func.func @remember_c5_input(%keys: tensor<2x?x16xi8> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xi32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x16xi8> -> tensor<?x16xi8>
  // expected-error @+1 {{input is 'tensor<?x8xi32>' but must be f32 or bf16 [rows, columns]}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows panels keys heads 2 outs(%h : tensor<?x16xi8>) : tensor<?x8xi32> -> tensor<?x16xi8>
  return
}

// -----

func.func @remember_c5_halves(%keys: tensor<2x?x8xf16> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf16> -> tensor<?x8xf16>
  // expected-error @+1 {{outs is 'tensor<?x8xf16>' but there are no panels}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf16>) : tensor<?x8xf32> -> tensor<?x8xf16>
  return
}

// -----

func.func @remember_c5_halves_input(%keys: tensor<2x?x8xf16> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xi32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf16> -> tensor<?x8xf16>
  // expected-error @+1 {{input is 'tensor<?x8xi32>' but must be f32 or bf16 [rows, columns]}}
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows panels keys heads 2 outs(%h : tensor<?x8xf16>) : tensor<?x8xi32> -> tensor<?x8xf16>
  return
}
