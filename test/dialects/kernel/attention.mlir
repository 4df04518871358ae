// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @attention
// CHECK: kernel.attention %{{.*}}, %{{.*}}, %{{.*}} key_bias %{{.*}} : tensor<?x1xf32> queries %{{.*}} keys %{{.*}} first %{{.*}} outs(%{{.*}} : tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 5.000000e-01 causal false : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
// CHECK: rotation %{{.*}} : memref<?x4xf32> {{.*}} causal true softcap 3.000000e+01 pairing interleaved slopes [0.5, 0.25] :
func.func @attention(%qkv: tensor<?x24xf32>, %m: tensor<?x1xf32>, %t: index, %zero: index, %o: tensor<?x8xf32>,
    %b: memref<?x24xf32>, %r: memref<?x4xf32>, %p: memref<?x8xf32>) {
  %y = kernel.attention %qkv, %qkv, %qkv key_bias %m : tensor<?x1xf32> queries %t keys %t first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  kernel.attention %b, %b, %b rotation %r : memref<?x4xf32> queries %t keys %t first %zero outs(%p : memref<?x8xf32>)
    heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 8, 12] scale 0.5 causal true softcap 30.0 pairing interleaved slopes [0.5, 0.25]
    : memref<?x24xf32>, memref<?x24xf32>, memref<?x24xf32>
  return
}
