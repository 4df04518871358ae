// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{patch is [4] and own [8, 8] but both must be two numbers}}
module attributes {test.grid_c1 = #transformer.grid<tokens = "t", patch = [4], own = [8, 8], prefix = 0>} {}

// -----

// expected-error @+1 {{patch is 0 but must be from 1 to own, which is 8}}
module attributes {test.grid_c1_patch = #transformer.grid<tokens = "t", patch = [4, 0], own = [8, 8], prefix = 0>} {}

// -----

// expected-error @+1 {{patch is 9 but must be from 1 to own, which is 8}}
module attributes {test.grid_c1_own = #transformer.grid<tokens = "t", patch = [9, 4], own = [8, 8], prefix = 0>} {}

// -----

// expected-error @+1 {{own is 2147483648 but must be below 2147483648}}
module attributes {test.grid_c1_large = #transformer.grid<tokens = "t", patch = [4, 4], own = [8, 2147483648], prefix = 0>} {}

// -----

// expected-error @+1 {{prefix is -1 but must be from 0 to 2147483647}}
module attributes {test.grid_c1_prefix = #transformer.grid<tokens = "t", patch = [4, 4], own = [8, 8], prefix = -1>} {}

// -----

// expected-error @+1 {{tokens is "4t" but must be the name of a size}}
module attributes {test.grid_c2 = #transformer.grid<tokens = "4t", patch = [4, 4], own = [8, 8], prefix = 0>} {}
