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

// Part of a head, backwards; long runs by other frequencies, and stretched.
// CHECK-LABEL: @parts
// CHECK: transformer.rotate %{{.*}} heads 1 head_dim 8 start 4 pairing half frequencies [-1.0, -0.0031622776601683794] long <after = 16, frequencies = [0.3333333333333333, 0.0012589254117941673]> : tensor
// CHECK: transformer.rotate %{{.*}} heads 1 head_dim 8 pairing half frequencies [1.0, 0.1] long <after = 8, stretch = 2.1> attention_factor 1.190
func.func @parts(%q: tensor<?x?x8xf32>, %positions: tensor<?x?xi32>) {
  %r = transformer.rotate %q at %positions heads 1 head_dim 8 start 4 pairing half frequencies [-1.0, -0.0031622776601683794] long <after = 16, frequencies = [0.3333333333333333, 0.0012589254117941673]>
    : tensor<?x?x8xf32>, tensor<?x?xi32>
  %s = transformer.rotate %r at %positions heads 1 head_dim 8 pairing half frequencies [1.0, 0.1] long <after = 8, stretch = 2.1> attention_factor 1.19
    : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// CHECK-LABEL: @by_table
// CHECK: transformer.rotate %{{.*}} heads 2 head_dim 4 start 2 pairing interleaved table @axes : tensor<?x16x8xf32>, tensor<?x16xi32>
func.func @by_table(%q: tensor<?x16x8xf32>, %positions: tensor<?x16xi32>) {
  %r = transformer.rotate %q at %positions heads 2 head_dim 4 start 2 pairing interleaved table @axes
    : tensor<?x16x8xf32>, tensor<?x16xi32>
  return
}

// CHECK-LABEL: @given
// CHECK: transformer.rotate %{{.*}} at %{{.*}} heads 2 head_dim 4 pairing half : tensor<?x?x8xf32>, tensor<?x?x4xf32>
func.func @given(%q: tensor<?x?x8xf32>, %r: tensor<?x?x4xf32>) {
  %s = transformer.rotate %q at %r heads 2 head_dim 4 pairing half : tensor<?x?x8xf32>, tensor<?x?x4xf32>
  return
}
