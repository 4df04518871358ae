// RUN: %mille-opt %s | FileCheck %s
transformer.model @by_head {
  transformer.parameter @w : tensor<2x6x4xf32> = #transformer.stored<"f", "w", tensor<2x6x4xf32>>
  // CHECK: transformer.linear_by_head %{{.*}} weight @w heads 2 : tensor<?x?x8xf32> -> tensor<?x?x12xf32>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x12xf32> {transformer.name = "y"}) {
    %y = transformer.linear_by_head %x weight @w heads 2 : tensor<?x?x8xf32> -> tensor<?x?x12xf32>
    return %y : tensor<?x?x12xf32>
  }
}
