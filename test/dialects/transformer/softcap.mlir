// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: transformer.softcap %{{.*}} cap 3.000000e+01 : tensor<?x?x8xf32>
func.func @softcap(%x: tensor<?x?x8xf32>) {
  %y = transformer.softcap %x cap 30.0 : tensor<?x?x8xf32>
  return
}
