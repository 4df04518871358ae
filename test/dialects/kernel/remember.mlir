// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @remember
// CHECK: %[[HELD:.*]] = kernel.recall 1 of %{{.*}} rows %{{.*}} : tensor<2x?x8xf32> -> tensor<?x8xf32>
// CHECK: kernel.remember %{{.*}} past %{{.*}} : tensor<?xi32> rows %{{.*}} outs(%[[HELD]] : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: kernel.positions %{{.*}} outs(%{{.*}} : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
func.func @remember(%keys: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>, %o: tensor<?xi32>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %p = kernel.positions %past outs(%o : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
  return
}

// CHECK-LABEL: @panels
// CHECK: kernel.remember %{{.*}} past %{{.*}} : tensor<?xi32> rows %{{.*}} panels keys heads 2 outs(%{{.*}} : tensor<?x8xf32>)
// CHECK: kernel.remember %{{.*}} past %{{.*}} : tensor<?xi32> rows %{{.*}} panels values heads 2 outs(%{{.*}} : tensor<?x8xf32>)
// CHECK: kernel.attention {{.*}} causal true panels :
func.func @panels(%keys: tensor<2x?x8xf32> {transformer.state}, %values: tensor<2x?x8xf32> {transformer.state}, %rows: index, %tokens: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  %zero = arith.constant 0 : index
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows panels keys heads 2 outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %g = kernel.recall 1 of %values rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %b = kernel.remember %k past %past : tensor<?xi32> rows %rows panels values heads 2 outs(%g : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %y = kernel.attention %k, %a, %b past %past : tensor<?xi32> queries %tokens keys %rows first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true panels
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @bytes
// CHECK: kernel.remember %{{.*}} panels keys heads 2 outs(%{{.*}} : tensor<?x16xi8>) : tensor<?x8xf32> -> tensor<?x16xi8>
// CHECK: kernel.remember %{{.*}} panels values heads 2 outs(%{{.*}} : tensor<?x264xi8>) : tensor<?x256xbf16> -> tensor<?x264xi8>
// CHECK: kernel.attention {{.*}} causal true panels : tensor<?x8xf32>, tensor<?x16xi8>, tensor<?x264xi8>
func.func @bytes(%keys: tensor<2x?x16xi8> {transformer.state}, %values: tensor<2x?x264xi8> {transformer.state}, %rows: index, %tokens: index, %past: tensor<?xi32>, %k: tensor<?x8xf32>, %v: tensor<?x256xbf16>, %o: tensor<?x256xf32>) {
  %zero = arith.constant 0 : index
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x16xi8> -> tensor<?x16xi8>
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows panels keys heads 2 outs(%h : tensor<?x16xi8>) : tensor<?x8xf32> -> tensor<?x16xi8>
  %g = kernel.recall 1 of %values rows %rows : tensor<2x?x264xi8> -> tensor<?x264xi8>
  %b = kernel.remember %v past %past : tensor<?xi32> rows %rows panels values heads 2 outs(%g : tensor<?x264xi8>) : tensor<?x256xbf16> -> tensor<?x264xi8>
  %y = kernel.attention %k, %a, %b past %past : tensor<?xi32> queries %tokens keys %rows first %zero outs(%o : tensor<?x256xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 128 offsets [0, 0, 0] scale 0.5 causal true panels
    : tensor<?x8xf32>, tensor<?x16xi8>, tensor<?x264xi8> -> tensor<?x256xf32>
  return
}

// CHECK-LABEL: @linear_recurrence
// CHECK: %[[HELD:.*]] = kernel.recall 0 of %{{.*}} rows %{{.*}} : memref<2x?x4xf32> -> memref<?x4xf32>
// CHECK: kernel.linear_recurrence %{{.*}}, %{{.*}}, %{{.*}} key_mask %{{.*}} : memref<?xi32> decay %{{.*}} : memref<2xf32> past %{{.*}} : memref<?xi32>
// CHECK-SAME: outs(%[[HELD]], %{{.*}} : memref<?x4xf32>, memref<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.000000e+00
func.func @linear_recurrence(%sums: memref<2x?x4xf32> {transformer.state}, %rows: index, %past: memref<?xi32>, %x: memref<?x24xf32>, %m: memref<?xi32>, %d: memref<2xf32>, %o: memref<?x8xf32>) {
  %h = kernel.recall 0 of %sums rows %rows : memref<2x?x4xf32> -> memref<?x4xf32>
  kernel.linear_recurrence %x, %x, %x key_mask %m : memref<?xi32> decay %d : memref<2xf32> past %past : memref<?xi32>
    outs(%h, %o : memref<?x4xf32>, memref<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : memref<?x24xf32>, memref<?x24xf32>, memref<?x24xf32>
  return
}

// CHECK-LABEL: @from
// CHECK: kernel.remember %{{.*}} past %{{.*}} outs(%{{.*}} : tensor<?x8xf32>) {kernel.from = 16 : i64} : tensor<?x24xf32> -> tensor<?x8xf32>
// CHECK: kernel.remember %{{.*}} panels keys heads 2 outs(%{{.*}} : tensor<?x16xi8>) {kernel.from = 8 : i64} : tensor<?x24xf32> -> tensor<?x16xi8>
func.func @from(%values: tensor<2x?x8xf32> {transformer.state}, %bytes: tensor<2x?x16xi8> {transformer.state}, %rows: index, %past: tensor<?xi32>, %qkv: tensor<?x24xf32>) {
  %h = kernel.recall 1 of %values rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %qkv past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) {kernel.from = 16 : i64} : tensor<?x24xf32> -> tensor<?x8xf32>
  %g = kernel.recall 1 of %bytes rows %rows : tensor<2x?x16xi8> -> tensor<?x16xi8>
  %b = kernel.remember %qkv past %past : tensor<?xi32> rows %rows panels keys heads 2 outs(%g : tensor<?x16xi8>) {kernel.from = 8 : i64} : tensor<?x24xf32> -> tensor<?x16xi8>
  return
}

// f16 of f16 is copied: rows as they are, or panels.
// CHECK-LABEL: @halves_of_halves
// CHECK: kernel.remember %{{.*}} past %{{.*}} outs(%{{.*}} : tensor<?x8xf16>) : tensor<?x8xf16> -> tensor<?x8xf16>
// CHECK: kernel.remember %{{.*}} panels keys heads 2 outs(%{{.*}} : tensor<?x8xf16>) : tensor<?x8xf16> -> tensor<?x8xf16>
func.func @halves_of_halves(%keys: tensor<2x?x8xf16> {transformer.state}, %values: tensor<2x?x8xf16> {transformer.state}, %rows: index, %past: tensor<?xi32>, %k: tensor<?x8xf16>) {
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf16> -> tensor<?x8xf16>
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf16>) : tensor<?x8xf16> -> tensor<?x8xf16>
  %g = kernel.recall 1 of %values rows %rows : tensor<2x?x8xf16> -> tensor<?x8xf16>
  %b = kernel.remember %k past %past : tensor<?xi32> rows %rows panels keys heads 2 outs(%g : tensor<?x8xf16>) : tensor<?x8xf16> -> tensor<?x8xf16>
  return
}
