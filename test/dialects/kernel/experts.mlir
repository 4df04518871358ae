// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @experts
// CHECK: kernel.experts %{{.*}} outs(%{{.*}} : tensor<?xi32>) : tensor<5xi32> -> tensor<?xi32>
func.func @experts(%s: tensor<5xi32>, %o: tensor<?xi32>) {
  %0 = kernel.experts %s outs(%o : tensor<?xi32>) : tensor<5xi32> -> tensor<?xi32>
  return
}
