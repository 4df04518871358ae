// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: transformer.position_bias %{{.*}} slopes [0.5, 0.25] : tensor<?x?xi32> -> tensor<?x2x?x?xf32>
func.func @position_bias(%positions: tensor<?x?xi32>) {
  %b = transformer.position_bias %positions slopes [0.5, 0.25] : tensor<?x?xi32> -> tensor<?x2x?x?xf32>
  return
}
