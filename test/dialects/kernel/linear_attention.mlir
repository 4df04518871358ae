// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @linear_attention
// CHECK: kernel.linear_attention %{{.*}}, %{{.*}}, %{{.*}} decay %{{.*}} : tensor<2xf32> tokens %{{.*}} outs(%{{.*}} : tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.35355339059327379 : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
// CHECK: kernel.linear_attention {{.*}} key_mask %{{.*}} : memref<?xi32> decay %{{.*}} : memref<2xf32> {{.*}} : memref<?x24xf32>, memref<?x24xf32>, memref<?x24xf32>{{$}}
func.func @linear_attention(%qkv: tensor<?x24xf32>, %d: tensor<2xf32>, %t: index, %o: tensor<?x8xf32>,
    %b: memref<?x24xf32>, %m: memref<?xi32>, %e: memref<2xf32>, %p: memref<?x8xf32>) {
  %y = kernel.linear_attention %qkv, %qkv, %qkv decay %d : tensor<2xf32> tokens %t outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.35355339059327379
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  kernel.linear_attention %b, %b, %b key_mask %m : memref<?xi32> decay %e : memref<2xf32> tokens %t outs(%p : memref<?x8xf32>)
    heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 8, 12] scale 1.0
    : memref<?x24xf32>, memref<?x24xf32>, memref<?x24xf32>
  return
}
