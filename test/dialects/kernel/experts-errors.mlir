// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @experts_c1(%s: tensor<1xi32>, %o: tensor<?xi32>) {
  // expected-error @+1 {{starts is 'tensor<1xi32>' but must be i32 [entries + 1]}}
  %0 = kernel.experts %s outs(%o : tensor<?xi32>) : tensor<1xi32> -> tensor<?xi32>
  return
}

// -----

func.func @experts_c2(%s: tensor<5xi32>, %o: tensor<?xi32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.experts %s outs(%o : tensor<?xi32>) : tensor<5xi32>
  return
}
