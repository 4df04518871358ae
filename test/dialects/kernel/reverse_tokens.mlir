// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @reverse_tokens
// CHECK: kernel.reverse_tokens %{{.*}} key_mask %{{.*}} : tensor<?xi32> tokens %{{.*}} outs(%{{.*}} : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: kernel.reverse_tokens %{{.*}} tokens %{{.*}} outs(%{{.*}} : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
func.func @reverse_tokens(%x: tensor<?x8xf32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x8xf32>) {
  %0 = kernel.reverse_tokens %x key_mask %m : tensor<?xi32> tokens %t outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = kernel.reverse_tokens %x tokens %t outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}
