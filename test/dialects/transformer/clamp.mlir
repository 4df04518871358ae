// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @clamp
// CHECK: transformer.clamp %{{.*}} low -7.000000e+00 high 0.30000000000000004 : tensor<?x?x8xf32>
// CHECK: transformer.clamp %{{.*}} low 0xFFF0000000000000 high 1.000000e+00 : tensor<?x?x8xf32>
func.func @clamp(%x: tensor<?x?x8xf32>) {
  %y = transformer.clamp %x low -7.0 high 0.30000000000000004 : tensor<?x?x8xf32>
  %z = transformer.clamp %y low 0xFFF0000000000000 high 1.0 : tensor<?x?x8xf32>
  return
}
