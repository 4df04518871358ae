// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @gather_tokens
// CHECK: transformer.gather_tokens %{{.*}} index [1, 0] group 1 : tensor<?x2x8xf32> -> tensor<?x2x8xf32>
// CHECK: transformer.gather_tokens %{{.*}} index [-1, 0, 1, 0, 1, -1] group 3 : tensor<?x2x8xf32> -> tensor<?x2x24xf32>
// CHECK: transformer.gather_tokens %{{.*}} index [3, 2, 1, -1] group 1 parts 2 : tensor<?x2x8xf32> -> tensor<?x4x4xf32>
func.func @gather_tokens(%x: tensor<?x2x8xf32>) {
  %y = transformer.gather_tokens %x index [1, 0] group 1 : tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  %z = transformer.gather_tokens %x index [-1, 0, 1, 0, 1, -1] group 3 : tensor<?x2x8xf32> -> tensor<?x2x24xf32>
  %p = transformer.gather_tokens %x index [3, 2, 1, -1] group 1 parts 2 : tensor<?x2x8xf32> -> tensor<?x4x4xf32>
  return
}
