// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @token_numbers_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{result is [?, 2] but must be [?, 3]}}
  %p = transformer.token_numbers %x [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x2xi32>
  return
}

// -----

func.func @token_numbers_c1_dynamic(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{result is [?, ?] but must be [?, 3]}}
  %p = transformer.token_numbers %x [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x?xi32>
  return
}

// -----

func.func @token_numbers_c1_large(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{numbers[1] is 2147483648 but must fit i32}}
  %p = transformer.token_numbers %x [0, 2147483648] : tensor<?x?x8xf32> -> tensor<?x2xi32>
  return
}
