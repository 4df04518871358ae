// Values that are the first columns of the keys: one state, in panels of values.
// RUN: %mille-opt %s --lay-out-states | FileCheck %s --check-prefixes=CHECK,F32
// RUN: %mille-opt %s --narrow-types=dtype=bf16 --lay-out-states | FileCheck %s --check-prefixes=CHECK,BF16

// CHECK-LABEL: func.func @value_is_key
// F32-SAME: tensor<2x?x8xf32> {kernel.panel_heads = 1 : i64, kernel.panels = #kernel<state_panels values>, transformer.name = "keys"
// BF16-SAME: tensor<2x?x8xbf16> {kernel.panel_heads = 1 : i64, kernel.panels = #kernel<state_panels values>, transformer.name = "keys"
// CHECK: %[[HELD:.*]] = kernel.remember {{.*}} panels values heads 1
// CHECK: kernel.attention %{{.*}}, %[[HELD]], %[[HELD]] {{.*}} causal true panels :
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

// As values alone, or with keys from elsewhere, nothing is a part of it.
// CHECK-LABEL: func.func @two_heads
// CHECK-NOT: panels
// CHECK: return
func.func @two_heads(%batch: index {kernel.size = "batch"}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x8xf32>, %keys: tensor<2x?x8xf32> {transformer.name = "other", transformer.state}) -> tensor<?x4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %o = tensor.empty(%batch) : tensor<?x4xf32>
  %y = kernel.attention %x, %a, %a past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x4xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 2 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
