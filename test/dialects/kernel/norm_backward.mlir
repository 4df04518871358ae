// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @norm_backward
// CHECK: kernel.norm_backward %{{.*}}, %{{.*}} weight %{{.*}} : tensor<8xf32> outs(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>) norm <layer, 1.0e-05> : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>, tensor<?x8xf32>
// CHECK: kernel.norm_backward %{{.*}}, %{{.*}} outs(%{{.*}} : memref<?x8xf32>) norm <rms, 1.0e-05, group = 4> : memref<?x8xf32>, memref<?x8xf32>{{$}}
func.func @norm_backward(%gy: tensor<?x8xf32>, %y: tensor<?x8xf32>, %w: tensor<8xf32>, %a: tensor<?x8xf32>, %b: tensor<?x8xf32>, %m: memref<?x8xf32>, %o: memref<?x8xf32>) -> tensor<?x8xf32> {
  %x, %h = kernel.norm_backward %gy, %y weight %w : tensor<8xf32> outs(%a, %b : tensor<?x8xf32>, tensor<?x8xf32>)
    norm <layer, 1.0e-05> : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>, tensor<?x8xf32>
  kernel.norm_backward %m, %m outs(%o : memref<?x8xf32>) norm <rms, 1.0e-05, group = 4> : memref<?x8xf32>, memref<?x8xf32>
  return %x : tensor<?x8xf32>
}
