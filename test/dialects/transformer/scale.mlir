// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: skip_scale = #transformer.scale<constant 3.5565588200778455 = "(2*80)^(1/4)">
module attributes {
  test.skip_scale = #transformer.scale<constant 3.5565588200778455 = "(2*80)^(1/4)">
} {}
