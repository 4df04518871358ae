// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: test.grid = #transformer.grid<tokens = "image_tokens", patch = [16, 14], own = [224, 238], prefix = 5>
// CHECK-SAME: test.parts = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>], least = [8, 8]>
module attributes {
  test.grid = #transformer.grid<tokens = "image_tokens", patch = [16, 14], own = [224, 238], prefix = 5>,
  test.parts = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>], least = [8, 8]>
} {}
