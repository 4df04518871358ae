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
