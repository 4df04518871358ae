// RUN: %mille-opt %s --lay-out-states | FileCheck %s --check-prefixes=CHECK,F32
// RUN: %mille-opt %s --narrow-types=dtype=bf16 --lay-out-states | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: %mille-opt %s --narrow-types=dtype=bf16 --lay-out-states=cache=int8 | FileCheck %s --check-prefixes=BYTES
// RUN: %refuses 1 %mille-opt %s --lay-out-states=cache=int4 2>&1 | FileCheck %s --check-prefix=INT4
// INT4: cache is 'int4' but must be int8 or f16
// RUN: %mille-opt %s --narrow-types="dtype=bf16 cache=f16" --lay-out-states=cache=f16 | FileCheck %s --check-prefixes=HALVES

// In f16 what is remembered comes in f32, and queries stay f32.
// HALVES-LABEL: func.func @attended
// HALVES-SAME: tensor<2x?x8xf16> {kernel.panel_heads = 2 : i64, kernel.panels = #kernel<state_panels keys>, transformer.name = "keys", transformer.shape = #transformer.shape<2, batch, context, 8>
// HALVES-SAME: tensor<2x?x8xf16> {kernel.panel_heads = 2 : i64, kernel.panels = #kernel<state_panels values>, transformer.name = "values"
// HALVES: kernel.recall 1 of %{{.*}} : tensor<2x?x8xf16> -> tensor<?x8xf16>
// HALVES: kernel.remember %{{.*}} panels keys heads 2 outs(%{{.*}} : tensor<?x8xf16>) : tensor<?x8xf32> -> tensor<?x8xf16>
// HALVES: kernel.attention {{.*}} panels : tensor<?x8xf32>, tensor<?x8xf16>, tensor<?x8xf16>
// HALVES-LABEL: func.func @read_otherwise
// HALVES-NOT: f16

// In bytes a head of 4 columns has the 4 bytes of a step besides.
// BYTES-LABEL: func.func @attended
// BYTES-SAME: tensor<2x?x16xi8> {kernel.panel_heads = 2 : i64, kernel.panels = #kernel<state_panels keys>, transformer.name = "keys", transformer.shape = #transformer.shape<2, batch, context, 16>
// BYTES-SAME: tensor<2x?x16xi8> {kernel.panel_heads = 2 : i64, kernel.panels = #kernel<state_panels values>, transformer.name = "values"
// BYTES: kernel.recall 1 of %{{.*}} : tensor<2x?x16xi8> -> tensor<?x16xi8>
// BYTES: kernel.remember %{{.*}} panels keys heads 2 outs(%{{.*}} : tensor<?x16xi8>) : tensor<?x8xbf16> -> tensor<?x16xi8>
// BYTES: kernel.remember %{{.*}} panels values heads 2 outs(%{{.*}} : tensor<?x16xi8>) : tensor<?x8xbf16> -> tensor<?x16xi8>
// BYTES: kernel.attention {{.*}} panels : tensor<?x8xbf16>, tensor<?x16xi8>, tensor<?x16xi8>
// They ask for whole groups of a key's columns, not of a value's.
// BYTES-LABEL: func.func @values_of_six
// BYTES-SAME: tensor<2x?x16xi8> {{.*}} transformer.name = "short"
// BYTES-SAME: tensor<2x?x20xi8> {{.*}} transformer.name = "long"
// BYTES-LABEL: func.func @read_otherwise
// BYTES-NOT: i8

// Attention alone reads both states: panels, of bf16 where the package is. Keys turn
// and round once; the values' and the queries' makers round.
// CHECK-LABEL: func.func @attended
// BF16-SAME: tensor<2x?x8xbf16> {kernel.panel_heads = 2 : i64, kernel.panels = #kernel<state_panels keys>, transformer.name = "keys"
// BF16: kernel.rotate %{{.*}} -> tensor<?x8xbf16>
// F32: kernel.remember %{{.*}} panels keys heads 2 outs(%{{.*}} : tensor<?x8xf32>)
// F32: kernel.remember %{{.*}} panels values heads 2 outs(%{{.*}} : tensor<?x8xf32>)
// BF16: kernel.remember %{{.*}} panels keys heads 2 outs(%{{.*}} : tensor<?x8xbf16>)
// BF16: kernel.rows ins(%arg3 : tensor<?x8xf32>) outs(%{{.*}} : tensor<?x8xbf16>)
// BF16: kernel.remember %{{.*}} panels values heads 2 outs(%{{.*}} : tensor<?x8xbf16>)
// BF16: kernel.rows ins(%arg3 : tensor<?x8xf32>) outs(%{{.*}} : tensor<?x8xbf16>)
// CHECK: kernel.attention {{.*}} causal true panels :
func.func @attended(%batch: index {kernel.size = "batch"}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x8xf32>, %r: tensor<?x4xf32>, %keys: tensor<2x?x8xf32> {transformer.name = "keys", transformer.shape = #transformer.shape<2, batch, context, 8>, transformer.state}, %values: tensor<2x?x8xf32> {transformer.name = "values", transformer.state}) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = tensor.empty(%batch) : tensor<?x8xf32>
  %k = kernel.rotate %x by %r outs(%e : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %k past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %g = kernel.recall 1 of %values rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %b = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%g : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %o = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.attention %x, %a, %b past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

func.func @values_of_six(%batch: index {kernel.size = "batch"}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x8xf32>, %v: tensor<?x12xf32>, %keys: tensor<2x?x8xf32> {transformer.name = "short", transformer.state}, %values: tensor<2x?x12xf32> {transformer.name = "long", transformer.state}) -> tensor<?x12xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %g = kernel.recall 1 of %values rows %rows : tensor<2x?x12xf32> -> tensor<?x12xf32>
  %b = kernel.remember %v past %past : tensor<?xi32> rows %rows outs(%g : tensor<?x12xf32>) : tensor<?x12xf32> -> tensor<?x12xf32>
  %o = tensor.empty(%batch) : tensor<?x12xf32>
  %y = kernel.attention %x, %a, %b past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x12xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 6 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x12xf32> -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}

// Keys are an output too, so they stay rows of f32, and so do the values that meet
// them.
// CHECK-LABEL: func.func @read_otherwise
// CHECK-NOT: bf16
// CHECK-NOT: panels
// CHECK: return
func.func @read_otherwise(%batch: index {kernel.size = "batch"}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x8xf32>, %keys: tensor<2x?x8xf32> {transformer.name = "other_keys", transformer.state}, %values: tensor<2x?x8xf32> {transformer.name = "other_values", transformer.state}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %g = kernel.recall 1 of %values rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %b = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%g : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %o = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.attention %x, %a, %b past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y, %a : tensor<?x8xf32>, tensor<?x8xf32>
}

// What one attention reads as keys another one reads as values: rows of f32.
// CHECK-LABEL: func.func @swapped
// CHECK-NOT: bf16
// CHECK-NOT: panels
// CHECK: return
func.func @swapped(%batch: index {kernel.size = "batch"}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x8xf32>, %keys: tensor<2x?x8xf32> {transformer.name = "swapped_keys", transformer.state}, %values: tensor<2x?x8xf32> {transformer.name = "swapped_values", transformer.state}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %a = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%h : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %g = kernel.recall 1 of %values rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  %b = kernel.remember %x past %past : tensor<?xi32> rows %rows outs(%g : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %o = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.attention %x, %a, %b past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %p = tensor.empty(%batch) : tensor<?x8xf32>
  %z = kernel.attention %x, %b, %a past %past : tensor<?xi32> queries %one keys %rows first %zero outs(%p : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true
    : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}
