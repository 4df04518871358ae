// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @collected_c1(%l: tensor<2x4x8xf32>) {
  // expected-error @+1 {{result is [2, 5, 8] but like is [2, 4, 8]}}
  %0 = transformer.collected "sum" like %l : tensor<2x4x8xf32> -> tensor<2x5x8xf32>
  return
}
