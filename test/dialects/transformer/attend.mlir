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

// Every optional part at once; a number of the layer table as layer_scale.
// CHECK-LABEL: transformer.model @everything
// CHECK: transformer.attend %{{.*}}, %{{.*}}, %{{.*}} key_mask %{{.*}} : tensor<?x?xi32> positions %{{.*}} : tensor<?x?xi32> segments %{{.*}} : tensor<?x?xi32> prefix %{{.*}} : tensor<?xi32> bias %{{.*}}, %{{.*}} : tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32> heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.35355339059327379 layer_scale @"layers.*.scale" head_scale @h length_scale <log_floor, beta = 0.30000000000000004, period = 8192, offset = 1> sink @s mask causal window [4, 1] chunk 8 softcap 3.000000e+01 : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
transformer.model @everything {
  transformer.parameter @h : tensor<2xf32> = #transformer.stored<"f", "h", tensor<2xf32>>
  transformer.parameter @s : tensor<2xf32> = #transformer.stored<"f", "s", tensor<2xf32>>
  func.func @forward(%q: tensor<?x?x8xf32> {transformer.name = "q"}, %k: tensor<?x?x4xf32> {transformer.name = "k"},
      %m: tensor<?x?xi32> {transformer.name = "m"}, %n: tensor<?xi32> {transformer.name = "n"}, %b: tensor<?x2x?x?xf32> {transformer.name = "b"}) {
    %y = transformer.layers %q slots [["layers.*.scale"]] bodies [0, 0] table [[1.0], [0.1]] {
    ^bb0(%x: tensor<?x?x8xf32>):
      %o = transformer.attend %x, %k, %k key_mask %m : tensor<?x?xi32> positions %m : tensor<?x?xi32> segments %m : tensor<?x?xi32> prefix %n : tensor<?xi32> bias %b, %b : tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32>
        heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.35355339059327379 layer_scale @"layers.*.scale" head_scale @h
        length_scale <log_floor, beta = 0.30000000000000004, period = 8192, offset = 1> sink @s mask causal window [4, 1] chunk 8 softcap 30.0
        : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
      transformer.yield %o : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// Windows of an image: a bias is of one of them.
// CHECK-LABEL: @windows
// CHECK: transformer.attend {{.*}} bias %{{.*}} : tensor<?x2x3x3xf32> {{.*}} mask bidirectional sequences 2 : tensor<?x6x8xf32>
func.func @windows(%x: tensor<?x6x8xf32>, %b: tensor<?x2x3x3xf32>) {
  %o = transformer.attend %x, %x, %x bias %b : tensor<?x2x3x3xf32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5 mask bidirectional sequences 2
    : tensor<?x6x8xf32>, tensor<?x6x8xf32>, tensor<?x6x8xf32> -> tensor<?x6x8xf32>
  return
}
