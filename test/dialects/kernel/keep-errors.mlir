// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @keep_input(%x: tensor<?x8xbf16>) {
  // expected-error @+1 {{operand #0 must be f32 [rows, columns] or i32 [rows], but got 'tensor<?x8xbf16>'}}
  kernel.keep %x as "hidden_states" index 1 : tensor<?x8xbf16>
  return
}

// -----

func.func @keep_c1(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{index is -7 but must be >= 0}}
  kernel.keep %x as "hidden_states" index -7 : tensor<?x8xf32>
  return
}

// -----

func.func @keep_c2(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{has no name}}
  kernel.keep %x as "" index 0 : tensor<?x8xf32>
  return
}

// -----

func.func @keep_c3(%x: tensor<?xi32>) {
  // expected-error @+1 {{input is 'tensor<?xi32>' but must be f32 [rows, columns]}}
  kernel.keep %x as "hidden_states" index 0 : tensor<?xi32>
  return
}
