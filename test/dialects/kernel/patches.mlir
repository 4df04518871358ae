// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @patches
// CHECK: kernel.patches %{{.*}} image [3, 8, 8] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%{{.*}} : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
// CHECK: kernel.patches %{{.*}} image [80, 1, 100] kernel [1, 3] stride [1, 2] padding [0, 1] prefix 0 outs(%{{.*}} : memref<?x240xf32>) : memref<?x8000xf32>{{$}}
func.func @patches(%x: tensor<?x192xf32>, %o: tensor<?x48xf32>, %b: memref<?x8000xf32>, %p: memref<?x240xf32>) {
  %y = kernel.patches %x image [3, 8, 8] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
  kernel.patches %b image [80, 1, 100] kernel [1, 3] stride [1, 2] padding [0, 1] prefix 0 outs(%p : memref<?x240xf32>) : memref<?x8000xf32>
  return
}

// CHECK-LABEL: @sized
// CHECK: kernel.patches %{{.*}} sides %{{.*}}, %{{.*}} image [3, 0, 0] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%{{.*}} : tensor<?x48xf32>) : tensor<?xf32> -> tensor<?x48xf32>
func.func @sized(%x: tensor<?xf32>, %h: index, %w: index, %o: tensor<?x48xf32>) {
  %y = kernel.patches %x sides %h, %w image [3, 0, 0] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?xf32> -> tensor<?x48xf32>
  return
}
