// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: test.floor = #transformer.length_scale<log_floor, beta = 0.30000000000000004, period = 8192, offset = 1>
// CHECK: test.keys = #transformer.length_scale<log_keys, base = 512.0, floor = 16.0>
// CHECK: test.no_offset = #transformer.length_scale<log_floor, beta = 0.1, period = 8192>
// CHECK: test.position = #transformer.length_scale<log_position, base = 2048.0000000000005>
module attributes {
  test.keys = #transformer.length_scale<log_keys, base = 512.0, floor = 16.0>,
  test.position = #transformer.length_scale<log_position, base = 2048.0000000000005>,
  test.floor = #transformer.length_scale<log_floor, beta = 0.30000000000000004, period = 8192, offset = 1>,
  test.no_offset = #transformer.length_scale<log_floor, beta = 0.1, period = 8192>
} {}
