// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// Every digit of a double is kept: 2^(-1/3), 0.1 + 0.2, the least subnormal.
// CHECK: #transformer.numbers<[0.7937005259840998, 0.30000000000000004, 5.0e-324, -0.0], tensor<2x2xf32>>
module attributes {
  test.numbers = #transformer.numbers<[0.79370052598409979, 0.30000000000000004, 5.0e-324, -0.0], tensor<2x2xf32>>
} {}
