// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @rotate
// CHECK: transformer.rotate %{{.*}} at %{{.*}} heads 2 head_dim 4 pairing half frequencies [1.0, 0.01] : tensor<?x?x8xf32>, tensor<?x?xi32>
// CHECK: transformer.rotate %{{.*}} heads 2 head_dim 4 pairing interleaved frequencies [1.0] attention_factor 1.200000e+00 : tensor
func.func @rotate(%q: tensor<?x?x8xf32>, %positions: tensor<?x?xi32>) {
  %r = transformer.rotate %q at %positions heads 2 head_dim 4 pairing half frequencies [1.0, 0.01]
    : tensor<?x?x8xf32>, tensor<?x?xi32>
  %s = transformer.rotate %r at %positions heads 2 head_dim 4 pairing interleaved frequencies [1.0] attention_factor 1.2
    : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}
