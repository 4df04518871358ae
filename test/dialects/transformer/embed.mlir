// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @embed
// CHECK: transformer.embed(%{{.*}}, %{{.*}}) tables [@word, @position] offsets [0, 2] : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
// CHECK: transformer.embed(%{{.*}}) tables [@word] offsets [0] scale 2.82842712474619{{[0-9]*}} : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
func.func @embed(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>) {
  %x = transformer.embed(%ids, %positions) tables [@word, @position] offsets [0, 2] scale 1.000000e+00
    : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  %y = transformer.embed(%ids) tables [@word] offsets [0] scale 2.8284271247461903
    : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
  return
}
