// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @similarity
// CHECK: kernel.similarity %{{.*}}, %{{.*}} as "logits_per_text" : tensor<?x8xf32>, tensor<?x8xf32>
// CHECK: kernel.similarity %{{.*}}, %{{.*}} as "logits_per_image" : memref<?x8xf32>, memref<?x8xf32>
func.func @similarity(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>, %c: memref<?x8xf32>) {
  kernel.similarity %a, %b as "logits_per_text" : tensor<?x8xf32>, tensor<?x8xf32>
  kernel.similarity %c, %c as "logits_per_image" : memref<?x8xf32>, memref<?x8xf32>
  return
}
