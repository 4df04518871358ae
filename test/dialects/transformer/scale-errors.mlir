// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{value is inf but must be finite}}
module attributes {test.scale_c1 = #transformer.scale<constant 0x7FF0000000000000>} {}

// -----

// expected-error @+1 {{from is nan but must be finite}}
module attributes {test.scale_c1_from = #transformer.scale<scheduled from 0x7FF8000000000000 to 1.0 over 10>} {}

// -----

// expected-error @+1 {{to is -inf but must be finite}}
module attributes {test.scale_c1_to = #transformer.scale<scheduled from 1.0 to 0xFFF0000000000000 over 10>} {}

// -----

// expected-error @+1 {{learned_scalar names no parameter}}
module attributes {test.scale_c2 = #transformer.scale<learned_scalar>} {}

// -----

// expected-error @+1 {{learned_channel names no parameter}}
module attributes {test.scale_c2_channel = #transformer.scale<learned_channel, share = model>} {}

// -----

// expected-error @+1 {{steps is 0 but must be > 0}}
module attributes {test.scale_c3 = #transformer.scale<scheduled from 0.0 to 1.0 over 0>} {}

// -----

// expected-error @+1 {{formula "(2*80)^(1/4)" is 3.5565588200778455 but value is 3.5566}}
module attributes {test.scale_c4 = #transformer.scale<constant 3.5566 = "(2*80)^(1/4)">} {}

// -----

// expected-error @+1 {{formula "1/0" is inf but value is 1.0}}
module attributes {test.scale_c4_infinite = #transformer.scale<constant 1.0 = "1/0">} {}

// -----

// expected-error @+1 {{formula "(2*80" lacks a ')'}}
module attributes {test.scale_c4_open = #transformer.scale<constant 160.0 = "(2*80">} {}

// -----

// expected-error @+1 {{formula "2 layers" has 'l' where an operator belongs}}
module attributes {test.scale_c4_operator = #transformer.scale<constant 160.0 = "2 layers">} {}

// -----

// expected-error @+1 {{formula "2*" ends where a number or a name belongs}}
module attributes {test.scale_c4_end = #transformer.scale<constant 160.0 = "2*">} {}

// -----

// expected-error @+1 {{formula "2*%" has '%' where a number or a name belongs}}
module attributes {test.scale_c4_symbol = #transformer.scale<constant 160.0 = "2*%">} {}

// -----

// expected-error @+1 {{formula "2*." has '.' where a number belongs}}
module attributes {test.scale_c4_number = #transformer.scale<constant 160.0 = "2*.">} {}

// -----

// expected-error @+1 {{nests more than 64 deep}}
module attributes {test.scale_c4_deep = #transformer.scale<constant 1.0 = "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))">} {}

// -----

// expected-error @+1 {{expected one of [constant, learned_scalar, learned_channel, scheduled] for what a scale is, got: learned}}
module attributes {test.scale_word = #transformer.scale<learned @alpha>} {}
