// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @attention
// CHECK: kernel.attention %{{.*}}, %{{.*}}, %{{.*}} key_mask %{{.*}} : tensor<?xi32> queries %{{.*}} keys %{{.*}} first %{{.*}} outs(%{{.*}} : tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 5.000000e-01 causal false : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
// CHECK: rotation %{{.*}} : memref<?x4xf32> {{.*}} causal true softcap 3.000000e+01 pairing interleaved slopes [0.5, 0.25] :
func.func @attention(%qkv: tensor<?x24xf32>, %m: tensor<?xi32>, %t: index, %zero: index, %o: tensor<?x8xf32>,
    %b: memref<?x24xf32>, %r: memref<?x4xf32>, %p: memref<?x8xf32>) {
  %y = kernel.attention %qkv, %qkv, %qkv key_mask %m : tensor<?xi32> queries %t keys %t first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  kernel.attention %b, %b, %b rotation %r : memref<?x4xf32> queries %t keys %t first %zero outs(%p : memref<?x8xf32>)
    heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 8, 12] scale 0.5 causal true softcap 30.0 pairing interleaved slopes [0.5, 0.25]
    : memref<?x24xf32>, memref<?x24xf32>, memref<?x24xf32>
  return
}

// Every optional operand and attribute at once.
// CHECK-LABEL: @everything
// CHECK: kernel.attention %{{.*}}, %{{.*}}, %{{.*}} key_mask %{{.*}} : tensor<?xi32> key_head_bias %{{.*}} : tensor<?x2xf32> rotation %{{.*}} : tensor<?x2xf32> query_scale %{{.*}} : tensor<?x1xf32> head_scale %{{.*}} : tensor<1xf32> sink %{{.*}} : tensor<2xf32> bias %{{.*}} : tensor<2x5xf32> content_query %{{.*}} : tensor<?x10xf32> content_key %{{.*}} : tensor<?x6xf32> segments %{{.*}} : tensor<?xi32> prefix %{{.*}} : tensor<?xi32> queries
// CHECK-SAME: offsets [0, 8, 16] scale 0.35355339059327379 causal true softcap 5.000000e+01 pairing interleaved start 2 slopes [0.7071067811865476, 0.30000000000000004] window [4, 1] chunk 8 bias_by distance : tensor<?x24xf32>
// CHECK: bias %{{.*}} : tensor<2x9xf32> {{.*}} causal false bias_by pair byte_scores :
func.func @everything(%x: tensor<?x24xf32>, %one: tensor<?x1xf32>, %two: tensor<?x2xf32>, %scale: tensor<1xf32>, %sink: tensor<2xf32>, %far: tensor<2x5xf32>, %pairs: tensor<2x9xf32>,
    %cq: tensor<?x10xf32>, %ck: tensor<?x6xf32>, %ids: tensor<?xi32>, %t: index, %o: tensor<?x8xf32>) {
  %y = kernel.attention %x, %x, %x key_mask %ids : tensor<?xi32> key_head_bias %two : tensor<?x2xf32> rotation %two : tensor<?x2xf32> query_scale %one : tensor<?x1xf32>
    head_scale %scale : tensor<1xf32> sink %sink : tensor<2xf32> bias %far : tensor<2x5xf32> content_query %cq : tensor<?x10xf32> content_key %ck : tensor<?x6xf32>
    segments %ids : tensor<?xi32> prefix %ids : tensor<?xi32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.35355339059327379 causal true softcap 50.0 pairing interleaved start 2
    slopes [0.70710678118654757, 0.30000000000000004] window [4, 1] chunk 8 bias_by distance
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  %z = kernel.attention %x, %x, %x head_scale %sink : tensor<2xf32> bias %pairs : tensor<2x9xf32> queries %t keys %t first %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false bias_by pair byte_scores
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}
