// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @positions_c1(%past: tensor<?xi32>, %o: tensor<?xi32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.positions %past outs(%o : tensor<?xi32>) : tensor<?xi32>
  return
}
