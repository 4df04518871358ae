// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: transformer.keep %{{.*}} as "hidden_states" index 1 : tensor<?x?x8xf32>
func.func @keep(%x: tensor<?x?x8xf32>) {
  transformer.keep %x as "hidden_states" index 1 : tensor<?x?x8xf32>
  return
}
