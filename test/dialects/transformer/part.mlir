// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: test.part = #transformer.part<tokens = "windowed_tokens", side = [28, 28], each = 49>
module attributes {
  test.part = #transformer.part<tokens = "windowed_tokens", side = [28, 28], each = 49>
} {}
