// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{side is [8] and each 1 but all must be from 1 to 2147483647}}
module attributes {test.part_c1 = #transformer.part<tokens = "w", side = [8], each = 1>} {}

// -----

// expected-error @+1 {{side is [8, 8] and each 0 but all must be from 1 to 2147483647}}
module attributes {test.part_c1_each = #transformer.part<tokens = "w", side = [8, 8], each = 0>} {}

// -----

// expected-error @+1 {{tokens is "" but must be the name of a size}}
module attributes {test.part_c2 = #transformer.part<tokens = "", side = [8, 8], each = 1>} {}
