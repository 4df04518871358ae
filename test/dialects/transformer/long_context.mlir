// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: test.other = #transformer.long_context<after = 16, frequencies = [0.3333333333333333, 0.0012589254117941673]>
// CHECK: test.stretched = #transformer.long_context<after = 8, stretch = 2.1>
module attributes {
  test.stretched = #transformer.long_context<after = 8, stretch = 2.1>,
  test.other = #transformer.long_context<after = 16, frequencies = [0.3333333333333333, 0.0012589254117941673]>
} {}
