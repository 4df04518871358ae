// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @saved_c1(%x: tensor<?x8xf32>, %rows: index) {
  kernel.layers %x reverse slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    // expected-error @+1 {{reads "x" but no loop before it saves that}}
    %h = kernel.saved "x" rows %rows -> tensor<?x8xf32>
    kernel.yield %h : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @saved_c1_layers(%x: tensor<?x8xf32>, %rows: index) {
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

func.func @saved_c2(%x: tensor<?x8xf32>, %rows: index) {
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

func.func @saved_c3(%x: tensor<?x8xf32>, %rows: index) {
  // expected-error @+1 {{is outside of kernel.layers, where nothing is saved}}
  %h = kernel.saved "x" rows %rows -> tensor<?x8xf32>
  return
}
