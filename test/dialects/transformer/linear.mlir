// RUN: %mille-opt %s | %mille-opt | FileCheck %s
// RUN: %mille-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @linear
// CHECK: transformer.linear %{{.*}} weight @w bias @b : tensor<?x?x8xf32> -> tensor<?x?x24xf32>
// CHECK: transformer.linear %{{.*}} weight @v scale 3.5565588200778455{{[0-9]*}} : tensor<?x?x24xf32> -> tensor<?x?x8xf32>
func.func @linear(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.linear %x weight @w bias @b : tensor<?x?x8xf32> -> tensor<?x?x24xf32>
  %z = transformer.linear %y weight @v scale 3.5565588200778455 : tensor<?x?x24xf32> -> tensor<?x?x8xf32>
  return %z : tensor<?x?x8xf32>
}

// Each row takes its expert's weight.
// CHECK-LABEL: @experts
// CHECK: transformer.linear %{{.*}} experts %{{.*}} : tensor<?x?x2xi32> weight @w bias @b scale 5.000000e-01 : tensor<?x?x2x8xf32> -> tensor<?x?x2x24xf32>
func.func @experts(%x: tensor<?x?x2x8xf32>, %e: tensor<?x?x2xi32>) {
  %y = transformer.linear %x experts %e : tensor<?x?x2xi32> weight @w bias @b scale 0.5 : tensor<?x?x2x8xf32> -> tensor<?x?x2x24xf32>
  return
}

// A scale of 1 is no scale.
// FOLD-LABEL: @scale_of_one
// FOLD: transformer.linear %{{.*}} weight @w : tensor
func.func @scale_of_one(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.linear %x weight @w scale 1.0 : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
