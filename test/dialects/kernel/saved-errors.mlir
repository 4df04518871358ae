// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @save_c1(%x: tensor<?x8xf32>) {
  kernel.layers %x slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    // expected-error @+1 {{has an empty name}}
    kernel.save %s as "" : tensor<?x8xf32>
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @save_c2(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{is outside of kernel.layers, where values stay}}
  kernel.save %x as "x" : tensor<?x8xf32>
  return
}

// -----

func.func @save_c2_twice(%x: tensor<?x8xf32>) {
  kernel.layers %x slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    // expected-error @+1 {{saves "x" again}}
    kernel.save %s as "x" : tensor<?x8xf32>
    // expected-note @+1 {{it is saved here too}}
    kernel.save %s as "x" : tensor<?x8xf32>
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @save_c3(%x: tensor<?x8xf32>, %ids: tensor<?xi32>) {
  kernel.layers %x slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    // expected-error @+1 {{input is 'tensor<?xi32>' but must be f32 or bf16 [rows, columns]}}
    kernel.save %ids as "x" : tensor<?xi32>
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @saved_c1(%x: tensor<?x8xf32>, %rows: index {kernel.size = "batch"}) {
  kernel.layers %x reverse slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    // expected-error @+1 {{reads "x" but no loop before it saves that}}
    %h = kernel.saved "x" rows %rows -> tensor<?x8xf32>
    kernel.yield %h : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @saved_c1_layers(%x: tensor<?x8xf32>, %rows: index {kernel.size = "batch"}) {
  %y = kernel.layers %x slots [[]] bodies [0, 0] table [[], []] {
  ^bb0(%s: tensor<?x8xf32>):
    // expected-note @+1 {{it is saved here}}
    kernel.save %s as "x" : tensor<?x8xf32>
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  kernel.layers %y reverse slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    // expected-error @+1 {{is in a loop of 1 layers but "x" is saved in one of 2}}
    %h = kernel.saved "x" rows %rows -> tensor<?x8xf32>
    kernel.yield %h : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @saved_c2(%x: tensor<?x8xf32>, %rows: index {kernel.size = "batch"}) {
  %y = kernel.layers %x slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    // expected-note @+1 {{it is saved here}}
    kernel.save %s as "x" : tensor<?x8xf32>
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  kernel.layers %y reverse slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    // expected-error @+1 {{is 'tensor<?x4xf32>' but "x" is 'tensor<?x8xf32>'}}
    %h = kernel.saved "x" rows %rows -> tensor<?x4xf32>
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @saved_c3(%x: tensor<?x8xf32>, %rows: index {kernel.size = "batch"}) {
  // expected-error @+1 {{is outside of kernel.layers, where nothing is saved}}
  %h = kernel.saved "x" rows %rows -> tensor<?x8xf32>
  return
}

// -----

transformer.model @m {
  transformer.parameter @w : tensor<16x8xf32> = 0.0
  func.func @gradient_c1() {
    // expected-error @+1 {{parameter @w is [16, 8] but must be [8, 16]}}
    %g = kernel.gradient @w -> tensor<8x16xf32>
    return
  }
}

// -----

func.func @gradient_c2() {
  // expected-error @+1 {{is 'tensor<8xbf16>' but gradients are f32, of a parameter's shape}}
  %g = kernel.gradient @w -> tensor<8xbf16>
  return
}

// -----

func.func @arena_c1_per_layer(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %rows: index {kernel.size = "batch"}) {
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
