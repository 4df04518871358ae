// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @reverse_tokens_c1(%x: tensor<?x8xf32>, %t: index, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{input has 8 columns but outs has 4}}
  %0 = kernel.reverse_tokens %x tokens %t outs(%o : tensor<?x4xf32>) : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @reverse_tokens_c2(%x: tensor<?x8xf32>, %t: index) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.reverse_tokens %x tokens %t outs(%x : tensor<?x8xf32>) : tensor<?x8xf32>
  return
}
