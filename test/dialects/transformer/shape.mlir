// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: test.none = #transformer.shape<>
// CHECK-SAME: test.pixels = #transformer.shape<batch, 3, 8, 8>
// CHECK-SAME: test.stream = #transformer.shape<batch, tokens, 768>
module attributes {
  test.stream = #transformer.shape<batch, tokens, 768>,
  test.pixels = #transformer.shape<batch, 3, 8, 8>,
  test.none = #transformer.shape<>
} {}
