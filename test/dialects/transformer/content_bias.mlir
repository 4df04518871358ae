// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: transformer.model @content_bias
// CHECK: transformer.content_bias %{{.*}} of_key false table @pos factor 0.20412414523193151 buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
// CHECK: transformer.content_bias %{{.*}} of_key true table @pos factor 5.000000e-01 buckets [2, 1, 0] :
transformer.model @content_bias {
  transformer.parameter @pos : tensor<3x8xf32> = #transformer.stored<"f", "pos", tensor<3x8xf32>>
  func.func @forward(%q: tensor<?x?x8xf32> {transformer.name = "q"}) {
    %b = transformer.content_bias %q of_key false table @pos factor 0.20412414523193151 buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    %c = transformer.content_bias %q of_key true table @pos factor 0.5 buckets [2, 1, 0] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    return
  }
}
