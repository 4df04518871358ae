// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @rotation
// CHECK: kernel.rotation %{{.*}} frequencies [1.0, 0.01] factor 1.000000e+00 outs(%{{.*}} : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
// CHECK: kernel.rotation %{{.*}} frequencies [-1.0, 0.0031622776601683794] factor 1.1902380714238083 long <after = 16, frequencies = [0.3333333333333333, 0.0012589254117941673]> outs(
// CHECK: kernel.rotation %{{.*}} {{.*}} long <after = 8, stretch = 2.1> outs(%{{.*}} : memref<?x4xf32>) : memref<?xi32>{{$}}
func.func @rotation(%positions: tensor<?xi32>, %o: tensor<?x4xf32>, %b: memref<?xi32>, %p: memref<?x4xf32>) {
  %r = kernel.rotation %positions frequencies [1.0, 0.01] factor 1.0 outs(%o : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
  %s = kernel.rotation %positions frequencies [-1.0, 0.0031622776601683794] factor 1.1902380714238083 long <after = 16, frequencies = [0.3333333333333333, 0.0012589254117941673]> outs(%o : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
  kernel.rotation %b frequencies [1.0, 0.01] factor 1.0 long <after = 8, stretch = 2.1> outs(%p : memref<?x4xf32>) : memref<?xi32>
  return
}
