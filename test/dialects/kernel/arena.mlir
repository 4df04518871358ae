// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: kernel.arena offset 4096 rows %{{.*}} : memref<?x768xf32, strided<[784, 1]>>
func.func @arena(%rows: index {kernel.size = "batch"}) {
  %b = kernel.arena offset 4096 rows %rows : memref<?x768xf32, strided<[784, 1]>>
  return
}
