// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @token_numbers
// CHECK: transformer.token_numbers %{{.*}} [0, -1, 2147483647] : tensor<?x3x8xf32> -> tensor<?x3xi32>
// CHECK: transformer.token_numbers %{{.*}} [0] : tensor<?x3x8x8xf32> -> tensor<?x1xi32>
func.func @token_numbers(%x: tensor<?x3x8xf32>, %image: tensor<?x3x8x8xf32>) {
  %p = transformer.token_numbers %x [0, -1, 2147483647] : tensor<?x3x8xf32> -> tensor<?x3xi32>
  %q = transformer.token_numbers %image [0] : tensor<?x3x8x8xf32> -> tensor<?x1xi32>
  return
}
