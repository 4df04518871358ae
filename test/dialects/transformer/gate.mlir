// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: transformer.gate %{{.*}}, %{{.*}} by silu : tensor<?x?x8xf32>
func.func @gate(%g: tensor<?x?x8xf32>, %u: tensor<?x?x8xf32>) {
  %y = transformer.gate %g, %u by silu : tensor<?x?x8xf32>
  return
}
