// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @attention_backward
// CHECK: kernel.attention_backward %{{.*}}, %{{.*}}, %{{.*}} gradient %{{.*}} : tensor<?x8xf32> queries %{{.*}} keys %{{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 8, 12] scale 5.000000e-01 causal true window [3, 0]
func.func @attention_backward(%x: tensor<?x16xf32>, %g: tensor<?x8xf32>, %k: tensor<?x4xf32>, %t: index) -> tensor<?x4xf32> {
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> queries %t keys %t
    outs(%k, %k, %g : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x8xf32>)
    heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 8, 12] scale 0.5 causal true window [3, 0]
    : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x8xf32>
  return %0#0 : tensor<?x4xf32>
}
