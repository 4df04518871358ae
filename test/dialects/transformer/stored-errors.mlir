// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{encoding is i8 but must be one of blocks: the element type says the others}}
module attributes {test.stored_c1 = #transformer.stored<"f", "w", tensor<4x32xf32>, i8>} {}

// -----

// expected-error @+1 {{element type is 'f16' but blocks of q8_0 stand for f32}}
module attributes {test.stored_c1_type = #transformer.stored<"f", "w", tensor<4x32xf16>, q8_0>} {}

// -----

// expected-error @+1 {{a row has 48 numbers but a block of q4_1 has 32}}
module attributes {test.stored_c2 = #transformer.stored<"f", "w", tensor<4x48xf32>, q4_1>} {}

// -----

// expected-error @+1 {{a row has 1 numbers but a block of q6_k has 256}}
module attributes {test.stored_c2_scalar = #transformer.stored<"f", "w", tensor<f32>, q6_k>} {}
