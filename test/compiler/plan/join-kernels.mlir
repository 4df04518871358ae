// RUN: %mille-opt %s --join-kernels | FileCheck %s
// RUN: %mille-opt %s --join-kernels --join-kernels | FileCheck %s

// CHECK-LABEL: @norm_and_copy
// CHECK: kernel.rows {{.*}} norm <layer, 1.0e-12> {
// CHECK: kernel.rows {{.*}} attributes {kernel.joined}
func.func @norm_and_copy(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %z: memref<?x8xbf16>) {
  kernel.launch {
    kernel.rows ins(%x : memref<?x8xf32>) outs(%y : memref<?x8xf32>) gather [-1] norm <layer, 1.0e-12> {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.rows ins(%y : memref<?x8xf32>) outs(%z : memref<?x8xbf16>) gather [-1] {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}

// CHECK-LABEL: @keep_as_gathers
// CHECK-NOT: kernel.joined
func.func @keep_as_gathers(%x: memref<?x8xf32>, %t: memref<4x8xf32>, %i: memref<?xi32>, %y: memref<?x8xf32>, %z: memref<?x8xf32>) {
  kernel.launch {
    kernel.rows ins(%x : memref<?x8xf32>) outs(%y : memref<?x8xf32>) gather [-1] norm <layer, 1.0e-12> {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.rows ins(%y, %t : memref<?x8xf32>, memref<4x8xf32>) indices(%i : memref<?xi32>) outs(%z : memref<?x8xf32>) gather [-1, 0] {
    ^bb0(%n: f32, %m: f32):
      kernel.yield %m : f32
    }
    kernel.yield
  }
  return
}

// CHECK-LABEL: @keep_as_reads_nothing_of_it
// CHECK-NOT: kernel.joined
func.func @keep_as_reads_nothing_of_it(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %z: memref<?x8xf32>) {
  kernel.launch {
    kernel.rows ins(%x : memref<?x8xf32>) outs(%y : memref<?x8xf32>) gather [-1] {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.rows ins(%x : memref<?x8xf32>) outs(%z : memref<?x8xf32>) gather [-1] {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}

// CHECK-LABEL: @keep_as_quantizes
// CHECK-NOT: kernel.joined
func.func @keep_as_quantizes(%x: memref<?x8xf32>, %v: memref<?x8xui8>, %p: memref<?x4xf32>, %z: memref<?x4xf32>) {
  kernel.launch {
    kernel.quantize %x values(%v : memref<?x8xui8>) parameters(%p : memref<?x4xf32>) : memref<?x8xf32>
    kernel.rows ins(%p : memref<?x4xf32>) outs(%z : memref<?x4xf32>) gather [-1] {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}
