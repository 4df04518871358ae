// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{extent is -9 : i64 but must be >= 0 or the name of a size}}
module attributes {test.shape_c1 = #transformer.shape<batch, -9>} {}

// -----

// expected-error @+1 {{extent is "a.b" but must be >= 0 or the name of a size}}
module attributes {test.shape_c1_name = #transformer.shape<a.b>} {}
