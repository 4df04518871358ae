// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: transformer.model @constant
// CHECK: transformer.constant @probe for %{{.*}} : tensor<?x?x8xf32> -> tensor<?x1x8xf32>
transformer.model @constant {
  transformer.parameter @probe : tensor<1x8xf32> = #transformer.stored<"f", "probe", tensor<1x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    %p = transformer.constant @probe for %x : tensor<?x?x8xf32> -> tensor<?x1x8xf32>
    return
  }
}
