// RUN: %mille-opt %s --turn-heads-first --split-input-file | FileCheck %s
// RUN: %mille-opt %s --turn-heads-first --split-input-file > %t.once
// RUN: %mille-opt %t.once --turn-heads-first --split-input-file | diff %t.once -

// CHECK-LABEL: @one_buffer
// CHECK: %[[ROOM:.*]] = tensor.empty(%[[ROWS:.*]]) : tensor<?x24xbf16>
// CHECK: %[[TURNED:.*]] = kernel.rotate %[[QKV:.*]] by %[[R:.*]] outs(%[[ROOM]] : tensor<?x24xbf16>) heads 6 head_dim 4 pairing interleaved start 0 : tensor<?x32xbf16>
// CHECK: kernel.attention %[[TURNED]], %[[TURNED]], %[[QKV]] queries
// CHECK-SAME: offsets [0, 16, 24]
// CHECK-NOT: pairing
func.func @one_buffer(%qkv: tensor<?x32xbf16>, %r: tensor<?x4xf32>, %rows: index, %n: index) -> tensor<?x16xbf16> {
  %o = tensor.empty(%rows) : tensor<?x16xbf16>
  %y = kernel.attention %qkv, %qkv, %qkv rotation %r : tensor<?x4xf32> queries %n keys %n first %n
    outs(%o : tensor<?x16xbf16>) heads 4 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 16, 24]
    scale 5.000000e-01 causal true pairing interleaved
    : tensor<?x32xbf16>, tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x16xbf16>
  return %y : tensor<?x16xbf16>
}

// -----

// CHECK-LABEL: @two_buffers
// CHECK: %[[Q:.*]] = kernel.rotate {{.*}} heads 2 head_dim 8 pairing half start 4 : tensor<?x16xbf16>
// CHECK: %[[K:.*]] = kernel.rotate {{.*}} heads 1 head_dim 8 pairing half start 4 : tensor<?x16xbf16>
// CHECK: kernel.attention %[[Q]], %[[K]], %arg1 queries
func.func @two_buffers(%q: tensor<?x16xbf16>, %kv: tensor<?x16xbf16>, %r: tensor<?x4xf32>, %rows: index, %n: index) -> tensor<?x16xbf16> {
  %o = tensor.empty(%rows) : tensor<?x16xbf16>
  %y = kernel.attention %q, %kv, %kv rotation %r : tensor<?x4xf32> queries %n keys %n first %n
    outs(%o : tensor<?x16xbf16>) heads 2 kv_heads 1 head_dim 8 value_dim 8 offsets [0, 0, 8]
    scale 5.000000e-01 causal true start 4
    : tensor<?x16xbf16>, tensor<?x16xbf16>, tensor<?x16xbf16> -> tensor<?x16xbf16>
  return %y : tensor<?x16xbf16>
}

// -----

// CHECK-LABEL: @of_f32
// CHECK: %[[TURNED:.*]] = kernel.rotate {{.*}} heads 6 head_dim 4 pairing half start 0 : tensor<?x32xf32>, tensor<?x4xf32> -> tensor<?x24xf32>
// CHECK: kernel.attention %[[TURNED]], %[[TURNED]], %arg0 queries
func.func @of_f32(%qkv: tensor<?x32xf32>, %r: tensor<?x4xf32>, %rows: index, %n: index) -> tensor<?x16xf32> {
  %o = tensor.empty(%rows) : tensor<?x16xf32>
  %y = kernel.attention %qkv, %qkv, %qkv rotation %r : tensor<?x4xf32> queries %n keys %n first %n
    outs(%o : tensor<?x16xf32>) heads 4 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 16, 24]
    scale 5.000000e-01 causal true
    : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// CHECK-LABEL: @keep_as_key_is_not_next
// CHECK-NOT: kernel.rotate
func.func @keep_as_key_is_not_next(%qkv: tensor<?x32xbf16>, %r: tensor<?x4xf32>, %rows: index, %n: index) -> tensor<?x16xbf16> {
  %o = tensor.empty(%rows) : tensor<?x16xbf16>
  %y = kernel.attention %qkv, %qkv, %qkv rotation %r : tensor<?x4xf32> queries %n keys %n first %n
    outs(%o : tensor<?x16xbf16>) heads 4 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 24, 16]
    scale 5.000000e-01 causal true
    : tensor<?x32xbf16>, tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x16xbf16>
  return %y : tensor<?x16xbf16>
}

// -----

// CHECK-LABEL: @keep_as_query_is_not_first
// CHECK-NOT: kernel.rotate
func.func @keep_as_query_is_not_first(%qkv: tensor<?x32xbf16>, %r: tensor<?x4xf32>, %rows: index, %n: index) -> tensor<?x16xbf16> {
  %o = tensor.empty(%rows) : tensor<?x16xbf16>
  %y = kernel.attention %qkv, %qkv, %qkv rotation %r : tensor<?x4xf32> queries %n keys %n first %n
    outs(%o : tensor<?x16xbf16>) heads 4 kv_heads 2 head_dim 4 value_dim 4 offsets [16, 0, 8]
    scale 5.000000e-01 causal true
    : tensor<?x32xbf16>, tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x16xbf16>
  return %y : tensor<?x16xbf16>
}

// -----

// CHECK-LABEL: @keep_as_types_differ
// CHECK-NOT: kernel.rotate
func.func @keep_as_types_differ(%q: tensor<?x16xf32>, %kv: tensor<?x16xbf16>, %r: tensor<?x4xf32>, %rows: index, %n: index) -> tensor<?x16xf32> {
  %o = tensor.empty(%rows) : tensor<?x16xf32>
  %y = kernel.attention %q, %kv, %kv rotation %r : tensor<?x4xf32> queries %n keys %n first %n
    outs(%o : tensor<?x16xf32>) heads 2 kv_heads 1 head_dim 8 value_dim 8 offsets [0, 0, 8]
    scale 5.000000e-01 causal true start 4
    : tensor<?x16xf32>, tensor<?x16xbf16>, tensor<?x16xbf16> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
