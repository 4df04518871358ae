// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @save_c1(%x: tensor<?x?x8xf32>) {
  // expected-note @+1 {{these layers save 1 values}}
  %y = transformer.layers %x slots [[]] bodies [0] table [[]] saves ["a"] {
  ^bb0(%s: tensor<?x?x8xf32>):
    // expected-error @+1 {{saves "b" but its layers do not name it}}
    transformer.save %s as "b" : tensor<?x?x8xf32>
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}
