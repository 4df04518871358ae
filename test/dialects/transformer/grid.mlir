// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: test.grid = #transformer.grid<tokens = "image_tokens", patch = [16, 14], own = [224, 238], prefix = 5>
module attributes {
  test.grid = #transformer.grid<tokens = "image_tokens", patch = [16, 14], own = [224, 238], prefix = 5>
} {}
