// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @pool
// CHECK: transformer.pool %{{.*}} by first : tensor<?x?x8xf32> -> tensor<?x8xf32>
// CHECK: transformer.pool %{{.*}} key_mask %{{.*}} : tensor<?x?xi32> by mean : tensor<?x?x8xf32> -> tensor<?x8xf32>
func.func @pool(%x: tensor<?x?x8xf32>, %m: tensor<?x?xi32>) {
  %p = transformer.pool %x by first : tensor<?x?x8xf32> -> tensor<?x8xf32>
  %q = transformer.pool %x key_mask %m : tensor<?x?xi32> by mean : tensor<?x?x8xf32> -> tensor<?x8xf32>
  return
}
