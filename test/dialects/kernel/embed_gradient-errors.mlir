// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @embed_gradient_c1(%x: tensor<?x8xf32>, %i: tensor<?xi32>, %o: tensor<9x4xf32>) {
  // expected-error @+1 {{outs has 4 columns but must have 8}}
  %0 = kernel.embed_gradient %x at %i outs(%o : tensor<9x4xf32>) : tensor<?x8xf32>, tensor<?xi32> -> tensor<9x4xf32>
  return
}

// -----

func.func @embed_gradient_c1_entries(%x: tensor<?x8xf32>, %i: tensor<?xi32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is 'tensor<?x8xf32>' but its number of entries must be known}}
  %0 = kernel.embed_gradient %x at %i outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?xi32> -> tensor<?x8xf32>
  return
}

// -----

func.func @embed_gradient_c2(%x: tensor<?x8xf32>, %i: tensor<?xi32>, %o: tensor<9x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.embed_gradient %x at %i outs(%o : tensor<9x8xf32>) : tensor<?x8xf32>, tensor<?xi32>
  return
}
