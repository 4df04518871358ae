// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: test.cut = #transformer.drawn<truncated_normal, mean = 0.0, std = 0.02, cut = 2.0, seed = 7, stream = "w", tensor<4xf32>>
// CHECK: test.drawn = #transformer.drawn<normal, mean = 0.0, std = 0.02, seed = 1, stream = "embed.weight", tensor<64x32xf32>>
module attributes {
  test.drawn = #transformer.drawn<normal, mean = 0.0, std = 0.02, seed = 1, stream = "embed.weight", tensor<64x32xf32>>,
  test.cut = #transformer.drawn<truncated_normal, mean = 0.0, std = 0.02, cut = 2.0, seed = 7, stream = "w", tensor<4xf32>>
} {}
