// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: transformer.model @affine
// CHECK: transformer.affine %{{.*}} scale <constant 2.0> shift <learned_scalar @b> : tensor<?x?x8xf32>
// CHECK: transformer.affine %{{.*}} scale <learned_channel @g> : tensor<?x?x8xf32>
// CHECK: transformer.affine %{{.*}} shift <constant -0.30000000000000004> : tensor<?x?x8xf32>
// CHECK: transformer.affine %{{.*}} scale <constant @"layers.*.scale"> : tensor<?x?x8xf32>
transformer.model @affine {
  transformer.parameter @b : tensor<1xf32> = #transformer.stored<"f", "b", tensor<1xf32>>
  transformer.parameter @g : tensor<8xf32> = #transformer.stored<"f", "g", tensor<8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    %0 = transformer.affine %x scale <constant 2.0> shift <learned_scalar @b> : tensor<?x?x8xf32>
    %1 = transformer.affine %0 scale <learned_channel @g> : tensor<?x?x8xf32>
    %2 = transformer.affine %1 shift <constant -0.30000000000000004> : tensor<?x?x8xf32>
    %3 = transformer.layers %2 slots [["layers.*.scale"]] bodies [0] table [[1.5]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %4 = transformer.affine %s scale <constant @"layers.*.scale"> : tensor<?x?x8xf32>
      transformer.yield %4 : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}
