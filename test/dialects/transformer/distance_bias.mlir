// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: transformer.model @distance_bias
// CHECK: transformer.distance_bias %{{.*}} table @rel buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
transformer.model @distance_bias {
  transformer.parameter @rel : tensor<3x2xf32> = #transformer.stored<"f", "rel", tensor<3x2xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    %b = transformer.distance_bias %x table @rel buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    return
  }
}
