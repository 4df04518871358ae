// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @rotation_c1(%positions: tensor<?xi32>, %o: tensor<?x6xf32>) {
  // expected-error @+1 {{outs has 6 columns but there are 2 frequencies}}
  %r = kernel.rotation %positions frequencies [1.0, 0.01] factor 1.0 outs(%o : tensor<?x6xf32>) : tensor<?xi32> -> tensor<?x6xf32>
  return
}

// -----

func.func @rotation_c2(%positions: tensor<?xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{has 2 frequencies but 1 for long runs}}
  %r = kernel.rotation %positions frequencies [1.0, 0.01] factor 1.0 long <after = 8, frequencies = [1.0]> outs(%o : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
  return
}

// -----

func.func @rotation_c3(%positions: tensor<?xi32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.rotation %positions frequencies [1.0, 0.01] factor 1.0 outs(%o : tensor<?x4xf32>) : tensor<?xi32>
  return
}
