// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @attend
// CHECK: transformer.attend %{{.*}}, %{{.*}}, %{{.*}} key_mask %{{.*}} : tensor<?x?xi32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 5.000000e-01 mask causal : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
// CHECK: transformer.attend {{.*}} bias %{{.*}} : tensor<?x2x?x?xf32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 5.000000e-01 mask bidirectional softcap 3.000000e+01 :
func.func @attend(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x4xf32>, %m: tensor<?x?xi32>, %b: tensor<?x2x?x?xf32>) {
  %o = transformer.attend %q, %k, %v key_mask %m : tensor<?x?xi32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  %p = transformer.attend %q, %k, %v bias %b : tensor<?x2x?x?xf32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask bidirectional softcap 30.0
    : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
  return
}
