// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: transformer.model @linear_attend
// CHECK: transformer.linear_attend %{{.*}}, %{{.*}}, %{{.*}} heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 1.000000e+00 decay @slopes : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
// CHECK: transformer.linear_attend {{.*}} key_mask %{{.*}} : tensor<?x?xi32> heads 2 kv_heads 1 head_dim 8 value_dim 4 scale 0.35355339059327379 decay @slopes : tensor<?x?x16xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
transformer.model @linear_attend {
  transformer.parameter @slopes : tensor<2xf32> = #transformer.numbers<[0.5, 0.25], tensor<2xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}, %q: tensor<?x?x16xf32> {transformer.name = "q"},
      %v: tensor<?x?x4xf32> {transformer.name = "v"}, %m: tensor<?x?xi32> {transformer.name = "m"}) {
    %o = transformer.linear_attend %x, %x, %x heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 1.0 decay @slopes
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    %p = transformer.linear_attend %q, %x, %v key_mask %m : tensor<?x?xi32> heads 2 kv_heads 1 head_dim 8 value_dim 4 scale 0.35355339059327379 decay @slopes
      : tensor<?x?x16xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
    return
  }
}
