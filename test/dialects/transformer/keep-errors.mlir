// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @keep_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{index is -1 but must be >= 0}}
  transformer.keep %x as "hidden_states" index -1 : tensor<?x?x8xf32>
  return
}
