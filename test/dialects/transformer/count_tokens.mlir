// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @count_tokens
// CHECK: transformer.count_tokens %{{.*}} padding 1 : tensor<?x?xi32>
// CHECK: transformer.count_tokens %{{.*}} : tensor<?x?xi32>
// CHECK: transformer.count_tokens %{{.*}} first 0 each 4 : tensor<?x?xi32>
func.func @count_tokens(%ids: tensor<?x?xi32>, %mask: tensor<?x?xi32>) {
  %p = transformer.count_tokens %ids padding 1 : tensor<?x?xi32>
  %q = transformer.count_tokens %mask : tensor<?x?xi32>
  %chunks = transformer.count_tokens %mask first 0 each 4 : tensor<?x?xi32>
  return
}
