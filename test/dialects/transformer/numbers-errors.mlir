// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{there are 2 numbers but the type is 'tensor<3xf32>'}}
module attributes {test.numbers_c1 = #transformer.numbers<[0.5, 0.25], tensor<3xf32>>} {}

// -----

// expected-error @+1 {{there are 2 numbers but the type is 'tensor<2xf64>'}}
module attributes {test.numbers_c1_type = #transformer.numbers<[0.5, 0.25], tensor<2xf64>>} {}

// -----

// expected-error @+1 {{there are 2 numbers but the type is 'tensor<?xf32>'}}
module attributes {test.numbers_c1_dynamic = #transformer.numbers<[0.5, 0.25], tensor<?xf32>>} {}

// -----

// expected-error @+1 {{a number is inf but must be finite}}
module attributes {test.numbers_c1_infinite = #transformer.numbers<[0.5, 0x7FF0000000000000], tensor<2xf32>>} {}
