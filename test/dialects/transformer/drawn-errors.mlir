// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{mean is inf but must be finite}}
module attributes {test.drawn_c1 = #transformer.drawn<normal, mean = 0x7FF0000000000000, std = 1.0, seed = 1, stream = "w", tensor<4xf32>>} {}

// -----

// expected-error @+1 {{std is -1.0 but must be finite and >= 0}}
module attributes {test.drawn_c1_std = #transformer.drawn<normal, mean = 0.0, std = -1.0, seed = 1, stream = "w", tensor<4xf32>>} {}

// -----

// expected-error @+1 {{cut is 0.0 but must be finite and > 0 for truncated_normal}}
module attributes {test.drawn_c2 = #transformer.drawn<truncated_normal, mean = 0.0, std = 1.0, seed = 1, stream = "w", tensor<4xf32>>} {}

// -----

// expected-error @+1 {{cut is 2.0 but must be absent for normal}}
module attributes {test.drawn_c2_normal = #transformer.drawn<normal, mean = 0.0, std = 1.0, cut = 2.0, seed = 1, stream = "w", tensor<4xf32>>} {}

// -----

// expected-error @+1 {{type is 'tensor<?xf32>' but must be an f32 tensor of static shape}}
module attributes {test.drawn_c3_dynamic = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "w", tensor<?xf32>>} {}
