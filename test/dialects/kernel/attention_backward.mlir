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

// CHECK-LABEL: @biases
// CHECK: kernel.attention_backward %{{.*}} key_mask %{{.*}} : tensor<?xi32> key_head_bias %{{.*}} : tensor<?x2xf32> sink %{{.*}} : tensor<2xf32> bias %{{.*}} : tensor<2x5xf32> segments %{{.*}} : tensor<?xi32> queries
// CHECK-SAME: outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x10xf32>, tensor<?x2xf32>, tensor<?x8xf32>)
// CHECK-SAME: causal false slopes [0.5, 0.25] chunk 4 bias_by distance :
func.func @biases(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %m: tensor<?xi32>, %h: tensor<?x2xf32>, %s: tensor<2xf32>, %b: tensor<2x5xf32>, %r: tensor<?x10xf32>, %t: index) -> tensor<?x10xf32> {
  %0:5 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> key_mask %m : tensor<?xi32> key_head_bias %h : tensor<?x2xf32>
    sink %s : tensor<2xf32> bias %b : tensor<2x5xf32> segments %m : tensor<?xi32> queries %t keys %t
    outs(%g, %g, %r, %h, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x10xf32>, tensor<?x2xf32>, tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false slopes [0.5, 0.25] chunk 4 bias_by distance
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x10xf32>, tensor<?x2xf32>, tensor<?x8xf32>
  return %0#2 : tensor<?x10xf32>
}

// CHECK-LABEL: @pairs
// CHECK: kernel.attention_backward %{{.*}} key_head_bias %{{.*}} : tensor<?x1xf32> bias %{{.*}} : tensor<2x9xf32> queries
// CHECK-SAME: outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x8xf32>)
// CHECK-SAME: causal false bias_by pair key_head_gradient :
func.func @pairs(%x: tensor<?x24xf32>, %g: tensor<?x8xf32>, %h: tensor<?x1xf32>, %b: tensor<2x9xf32>, %r: tensor<?x6xf32>, %t: index) -> tensor<?x6xf32> {
  %0:5 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xf32> key_head_bias %h : tensor<?x1xf32> bias %b : tensor<2x9xf32> queries %t keys %t
    outs(%g, %g, %h, %r, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false bias_by pair key_head_gradient
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x8xf32>
  return %0#3 : tensor<?x6xf32>
}

// CHECK-LABEL: @narrow
// CHECK: kernel.attention_backward %{{.*}}, %{{.*}}, %{{.*}} gradient %{{.*}} : tensor<?x8xbf16> queries
// CHECK-SAME: tensor<?x24xbf16>, tensor<?x24xbf16>, tensor<?x24xbf16> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
func.func @narrow(%x: tensor<?x24xbf16>, %g: tensor<?x8xbf16>, %o: tensor<?x8xf32>, %t: index) -> tensor<?x8xf32> {
  %0:3 = kernel.attention_backward %x, %x, %x gradient %g : tensor<?x8xbf16> queries %t keys %t
    outs(%o, %o, %o : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xbf16>, tensor<?x24xbf16>, tensor<?x24xbf16> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  return %0#2 : tensor<?x8xf32>
}
