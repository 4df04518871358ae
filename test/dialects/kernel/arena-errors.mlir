// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @arena_c1(%rows: index {kernel.size = "batch"}) {
  // expected-error @+1 {{offset is 100 but must be >= 0 and a multiple of 64}}
  %b = kernel.arena offset 100 rows %rows : memref<?x8xf32>
  return
}

// -----

func.func @arena_c1_sign(%rows: index {kernel.size = "batch"}) {
  // expected-error @+1 {{offset is -64 but must be >= 0 and a multiple of 64}}
  %b = kernel.arena offset -64 rows %rows : memref<?x8xf32>
  return
}

// -----

func.func @arena_c1_per_layer(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %rows: index) {
  kernel.layers %x, %y slots [[]] bodies [0] table [[]] {
  ^bb0(%s: memref<?x8xf32>, %t: memref<?x8xf32>):
    // expected-error @+1 {{per_layer is 32 but must be > 0 and a multiple of 64}}
    %b = kernel.arena offset 64 per_layer 32 rows %rows : memref<?x8xf32>
    kernel.yield
  } : memref<?x8xf32>, memref<?x8xf32>
  return
}

// -----

func.func @arena_c2(%rows: index {kernel.size = "batch"}) {
  // expected-error @+1 {{has per_layer but is outside of kernel.layers}}
  %b = kernel.arena offset 64 per_layer 64 rows %rows : memref<?x8xf32>
  return
}

// -----

func.func @arena_c2_fixed(%rows: index {kernel.size = "batch"}, %x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  kernel.layers %x, %y slots [[]] bodies [0] table [[]] {
  ^bb0(%s: memref<?x8xf32>, %t: memref<?x8xf32>):
    // expected-error @+1 {{is fixed but has per_layer}}
    %b = kernel.arena fixed offset 64 per_layer 64 rows %rows : memref<?x8xf32>
    kernel.yield
  } : memref<?x8xf32>, memref<?x8xf32>
  return
}
