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
