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

// -----

// expected-error @+1 {{own is [8, 9] and prefix 0 but parts need whole patches of [4, 4] and no prefix}}
module attributes {test.grid_c3 = #transformer.grid<tokens = "t", patch = [4, 4], own = [8, 9], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>]>} {}

// -----

// expected-error @+1 {{own is [8, 8] and prefix 1 but parts need whole patches of [4, 4] and no prefix}}
module attributes {test.grid_c3_prefix = #transformer.grid<tokens = "t", patch = [4, 4], own = [8, 8], prefix = 1, parts = [<tokens = "w", side = [8, 8], each = 4>]>} {}

// -----

// expected-error @+1 {{parts have "t" twice}}
module attributes {test.grid_c3_names = #transformer.grid<tokens = "t", patch = [4, 4], own = [8, 8], prefix = 0, parts = [<tokens = "t", side = [8, 8], each = 4>]>} {}

// -----

// expected-error @+1 {{least is [8] but must be two numbers}}
module attributes {test.grid_c4 = #transformer.grid<tokens = "t", patch = [4, 4], own = [8, 8], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>], least = [8]>} {}

// -----

// expected-error @+1 {{least is 3 but must be from 4 to 8}}
module attributes {test.grid_c4_small = #transformer.grid<tokens = "t", patch = [4, 4], own = [8, 8], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>], least = [4, 3]>} {}
