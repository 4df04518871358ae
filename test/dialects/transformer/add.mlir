// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @add
// CHECK: transformer.add %{{.*}}, %{{.*}} : tensor<?x?x8xf32>
func.func @add(%a: tensor<?x?x8xf32>, %b: tensor<?x?x8xf32>) {
  %y = transformer.add %a, %b : tensor<?x?x8xf32>
  return
}
