// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @pool
// CHECK: transformer.pool %{{.*}} by first : tensor<?x?x8xf32> -> tensor<?x8xf32>
// CHECK: transformer.pool %{{.*}} key_mask %{{.*}} : tensor<?x?xi32> by mean : tensor<?x?x8xf32> -> tensor<?x8xf32>
// CHECK: transformer.pool %{{.*}} by mean skip 1 : tensor<?x5x8xf32> -> tensor<?x8xf32>
// CHECK: transformer.pool %{{.*}} key_mask %{{.*}} : tensor<?x?xi32> by last :
// CHECK: transformer.pool %{{.*}} ids %{{.*}} : tensor<?x?xi32> by first_id id 2 :
// CHECK: transformer.pool %{{.*}} key_mask %{{.*}} : tensor<?x?xi32> ids %{{.*}} : tensor<?x?xi32> by highest_id :
func.func @pool(%x: tensor<?x?x8xf32>, %m: tensor<?x?xi32>, %image: tensor<?x5x8xf32>) {
  %p = transformer.pool %x by first : tensor<?x?x8xf32> -> tensor<?x8xf32>
  %q = transformer.pool %x key_mask %m : tensor<?x?xi32> by mean : tensor<?x?x8xf32> -> tensor<?x8xf32>
  %r = transformer.pool %image by mean skip 1 : tensor<?x5x8xf32> -> tensor<?x8xf32>
  %s = transformer.pool %x key_mask %m : tensor<?x?xi32> by last : tensor<?x?x8xf32> -> tensor<?x8xf32>
  %t = transformer.pool %x ids %m : tensor<?x?xi32> by first_id id 2 : tensor<?x?x8xf32> -> tensor<?x8xf32>
  %u = transformer.pool %x key_mask %m : tensor<?x?xi32> ids %m : tensor<?x?xi32> by highest_id : tensor<?x?x8xf32> -> tensor<?x8xf32>
  return
}
