// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{after is 0 but must be > 0}}
module attributes {test.long_context_c1 = #transformer.long_context<after = 0, stretch = 2.0>} {}

// -----

// expected-error @+1 {{stretch is 0.5 but must be finite and >= 1}}
module attributes {test.long_context_c2 = #transformer.long_context<after = 8, stretch = 0.5>} {}

// -----

// expected-error @+1 {{stretch is nan but must be finite and >= 1}}
module attributes {test.long_context_c2_nan = #transformer.long_context<after = 8, stretch = 0x7FF8000000000000>} {}

// -----

// expected-error @+1 {{a frequency is inf but must be finite}}
module attributes {test.long_context_c2_frequency = #transformer.long_context<after = 8, frequencies = [1.0, 0x7FF0000000000000]>} {}
