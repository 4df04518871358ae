// RUN: %mille-opt %s --split-input-file --lay-out-states | FileCheck %s
// RUN: %mille-opt %s --split-input-file --lay-out-states=cache=int8 | FileCheck %s --check-prefix=BYTES

// Entry 1 is read by a query with a window of 3 keys, entry 0 by none.
// CHECK-LABEL: func.func @windowed
// CHECK-SAME: {kernel.panel_heads = 2 : i64, kernel.panels = #kernel<state_panels keys>, kernel.windows = array<i64: 0, 3>, transformer.name = "keys"
// CHECK-SAME: {kernel.panel_heads = 2 : i64, kernel.panels = #kernel<state_panels values>, kernel.windows = array<i64: 0, 3>, transformer.name = "values"
// BYTES-LABEL: func.func @windowed
// BYTES-SAME: tensor<2x?x16xi8> {kernel.panel_heads = 2 : i64
func.func @windowed(%batch: index {kernel.size = "batch"}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x8xf32>, %keys: tensor<2x?x8xf32> {transformer.name = "keys", transformer.state}, %values: tensor<2x?x8xf32> {transformer.name = "values", transformer.state}) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %g = kernel.recall 1 of %values rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %b = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%g : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %o = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.attention %x, %a, %b past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true window [3, 0]
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A body of the layer loop: layers 0 and 2 run the one with a window of 5 keys, layer 1
// the one that sees all.
// CHECK-LABEL: func.func @bodies
// CHECK-SAME: kernel.windows = array<i64: 5, 0, 5>, transformer.name = "keys"
// CHECK-SAME: kernel.windows = array<i64: 5, 0, 5>, transformer.name = "values"
func.func @bodies(%batch: index {kernel.size = "batch"}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x8xf32>, %keys: tensor<3x?x8xf32> {transformer.name = "keys", transformer.state}, %values: tensor<3x?x8xf32> {transformer.name = "values", transformer.state}) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = kernel.layers %x slots [[], []] bodies [0, 1, 0] table [[], [], []] {
  ^bb0(%s: tensor<?x8xf32>):
    %h = kernel.recall 0 of %keys rows %rows : tensor<3x?x8xf32> -> tensor<?x8xf32>
    %a = kernel.remember %s past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
    %g = kernel.recall 0 of %values rows %rows : tensor<3x?x8xf32> -> tensor<?x8xf32>
    %b = kernel.remember %s past %past : tensor<?xi32> rows %rows outs(%g : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
    %o = tensor.empty(%batch) : tensor<?x8xf32>
    %z = kernel.attention %s, %a, %b past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x8xf32>)
      heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true window [5, 0]
      : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
    kernel.yield %z : tensor<?x8xf32>
  }, {
  ^bb0(%s: tensor<?x8xf32>):
    %h = kernel.recall 0 of %keys rows %rows : tensor<3x?x8xf32> -> tensor<?x8xf32>
    %a = kernel.remember %s past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
    %g = kernel.recall 0 of %values rows %rows : tensor<3x?x8xf32> -> tensor<?x8xf32>
    %b = kernel.remember %s past %past : tensor<?xi32> rows %rows outs(%g : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
    %o = tensor.empty(%batch) : tensor<?x8xf32>
    %z = kernel.attention %s, %a, %b past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x8xf32>)
      heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true
      : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
    kernel.yield %z : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A bias that lies by key would be read at another place.
// CHECK-LABEL: func.func @keep_as_keys_have_places
// CHECK-NOT: kernel.windows
func.func @keep_as_keys_have_places(%batch: index {kernel.size = "batch"}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x8xf32>, %bias: tensor<?x2xf32>, %keys: tensor<2x?x8xf32> {transformer.name = "keys", transformer.state}, %values: tensor<2x?x8xf32> {transformer.name = "values", transformer.state}) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %g = kernel.recall 1 of %values rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %b = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%g : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %o = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.attention %x, %a, %b key_head_bias %bias : tensor<?x2xf32> past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true window [3, 0]
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// The values are read without a window too, so the keys beside them keep all rows.
// CHECK-LABEL: func.func @keep_as_another_query_sees_all
// CHECK-NOT: kernel.windows
func.func @keep_as_another_query_sees_all(%batch: index {kernel.size = "batch"}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x8xf32>, %keys: tensor<2x?x8xf32> {transformer.name = "keys", transformer.state}, %values: tensor<2x?x8xf32> {transformer.name = "values", transformer.state}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %i = kernel.recall 0 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %c = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%i : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %g = kernel.recall 1 of %values rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %b = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%g : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %o = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.attention %x, %a, %b past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true window [3, 0]
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %p = tensor.empty(%batch) : tensor<?x8xf32>
  %z = kernel.attention %x, %c, %b past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%p : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}
