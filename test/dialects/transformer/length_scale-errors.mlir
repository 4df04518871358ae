// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{base is 1.0 but must be finite and > 1}}
module attributes {test.length_scale_c1 = #transformer.length_scale<log_keys, base = 1.0>} {}

// -----

// expected-error @+1 {{base is inf but must be finite and > 1}}
module attributes {test.length_scale_c1_infinite = #transformer.length_scale<log_position, base = 0x7FF0000000000000>} {}

// -----

// expected-error @+1 {{floor is 0.5 but must be finite and >= 1}}
module attributes {test.length_scale_c1_floor = #transformer.length_scale<log_keys, base = 512.0, floor = 0.5>} {}

// -----

// expected-error @+1 {{floor is nan but must be finite and >= 1}}
module attributes {test.length_scale_c1_floor_nan = #transformer.length_scale<log_keys, base = 512.0, floor = 0x7FF8000000000000>} {}

// -----

// expected-error @+1 {{beta is inf but must be finite}}
module attributes {test.length_scale_c2 = #transformer.length_scale<log_floor, beta = 0x7FF0000000000000, period = 4>} {}

// -----

// expected-error @+1 {{period is 0 but must be > 0}}
module attributes {test.length_scale_c2_period = #transformer.length_scale<log_floor, beta = 0.1>} {}

// -----

// expected-error @+1 {{beta is given but is no part of log_keys}}
module attributes {test.length_scale_c3 = #transformer.length_scale<log_keys, base = 512.0, beta = 0.1>} {}

// -----

// expected-error @+1 {{floor is given but is no part of log_position}}
module attributes {test.length_scale_c3_floor = #transformer.length_scale<log_position, base = 512.0, floor = 2.0>} {}

// -----

// expected-error @+1 {{base is given but is no part of log_floor}}
module attributes {test.length_scale_c3_base = #transformer.length_scale<log_floor, base = 2.0, beta = 0.1, period = 4>} {}

// -----

// expected-error @+1 {{unknown struct parameter name: bass}}
module attributes {test.length_scale_unknown_key = #transformer.length_scale<log_keys, bass = 512.0>} {}

// -----

// expected-error @+2 {{expected one of [log_keys, log_position, log_floor] for what of a query's position or keys scales its scores, got: log_rows}}
// expected-error @+1 {{parameter 'kind'}}
module attributes {test.length_scale_unknown_word = #transformer.length_scale<log_rows, base = 512.0>} {}
