// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: transformer.model @pair_bias
// CHECK: transformer.pair_bias %{{.*}} table @rel index [0, 1, 2, 0] : tensor<?x2x8xf32> -> tensor<?x4x2x2xf32>
transformer.model @pair_bias {
  transformer.parameter @rel : tensor<3x4xf32> = #transformer.stored<"f", "rel", tensor<3x4xf32>>
  func.func @forward(%x: tensor<?x2x8xf32> {transformer.name = "x"}) {
    %b = transformer.pair_bias %x table @rel index [0, 1, 2, 0] : tensor<?x2x8xf32> -> tensor<?x4x2x2xf32>
    return
  }
}
