// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @similarity
// CHECK: transformer.similarity %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x?xf32>
func.func @similarity(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>) {
  %s = transformer.similarity %a, %b : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x?xf32>
  return
}
