// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @collect_c1(%x: tensor<2x5x8xf32>, %l: tensor<2x4x8xf32>) {
  // expected-error @+1 {{value is [2, 5, 8] but like is [2, 4, 8]}}
  transformer.collect %x like %l into "sum" : tensor<2x5x8xf32>, tensor<2x4x8xf32>
  return
}
