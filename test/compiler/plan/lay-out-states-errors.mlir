// RUN: %refuses 1 %mille-opt %s --split-input-file --lay-out-states=cache=int8 2>&1 | FileCheck %s

// CHECK: cache is 'int8' but a head of keys has 6 columns, which must be a multiple of 4
func.func @odd_heads(%batch: index {kernel.size = "batch"}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x12xf32>, %keys: tensor<2x?x12xf32> {transformer.name = "keys", transformer.state}, %values: tensor<2x?x12xf32> {transformer.name = "values", transformer.state}) -> tensor<?x12xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x12xf32> -> tensor<?x12xf32>
  %a = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x12xf32>) : tensor<?x12xf32> -> tensor<?x12xf32>
  %g = kernel.recall 1 of %values rows %rows : tensor<2x?x12xf32> -> tensor<?x12xf32>
  %b = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%g : tensor<?x12xf32>) : tensor<?x12xf32> -> tensor<?x12xf32>
  %o = tensor.empty(%batch) : tensor<?x12xf32>
  %y = kernel.attention %x, %a, %b past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x12xf32>)
    heads 2 kv_heads 2 head_dim 6 value_dim 6 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32> -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}

// -----

// CHECK: cache is 'int8' but an attention reads one state as keys and as values
func.func @value_is_key(%batch: index {kernel.size = "batch"}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x16xf32>, %k: tensor<?x8xf32>, %keys: tensor<2x?x8xf32> {transformer.name = "keys", transformer.state}) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %o = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.attention %x, %a, %a past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 1 head_dim 8 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x16xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// CHECK: cache is 'int8' but no entry remembers keys and values that attention alone reads
func.func @no_state(%x: tensor<?x12xf32>) -> tensor<?x12xf32> {
  return %x : tensor<?x12xf32>
}
