// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: transformer.gate %{{.*}}, %{{.*}} by silu : tensor<?x?x8xf32>
// CHECK: transformer.gate %{{.*}}, %{{.*}} by sigmoid up_offset 0.30000000000000004 : tensor<?x?x8xf32>
func.func @gate(%g: tensor<?x?x8xf32>, %u: tensor<?x?x8xf32>) {
  %y = transformer.gate %g, %u by silu : tensor<?x?x8xf32>
  %z = transformer.gate %g, %u by sigmoid up_offset 0.30000000000000004 : tensor<?x?x8xf32>
  return
}
