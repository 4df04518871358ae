// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @pair_bias_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{index has 3 entries but there are 2 * 2 pairs}}
  %b = transformer.pair_bias %x table @rel index [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x4x2x2xf32>
  return
}

// -----

// n * n is 0 modulo 2^64.
func.func @pair_bias_c1_overflow(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{index has 0 entries but there are 4294967296 * 4294967296 pairs}}
  %b = transformer.pair_bias %x table @rel index [] : tensor<?x?x8xf32> -> tensor<?x4x4294967296x4294967296xf32>
  return
}

// -----

transformer.model @pair_bias_c1_rows {
  transformer.parameter @rel : tensor<3x4xf32> = #transformer.stored<"f", "rel", tensor<3x4xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{index has entries from 0 to 3 but table @rel has 3 rows}}
    %b = transformer.pair_bias %x table @rel index [0, 1, 2, 3] : tensor<?x?x8xf32> -> tensor<?x4x2x2xf32>
    return
  }
}

// -----

transformer.model @pair_bias_c2 {
  // expected-note @+1 {{@rel is given here}}
  transformer.parameter @rel : tensor<3x2xf32> = #transformer.stored<"f", "rel", tensor<3x2xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{table @rel is [3, 2] but must be [?, 4]}}
    %b = transformer.pair_bias %x table @rel index [0, 1, 2, 0] : tensor<?x?x8xf32> -> tensor<?x4x2x2xf32>
    return
  }
}

// -----

func.func @pair_bias_c3(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{result is [?, 4, 2, 3] but must be [batch, heads, n, n]}}
  %b = transformer.pair_bias %x table @rel index [0, 1, 2, 0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x4x2x3xf32>
  return
}

// -----

func.func @pair_bias_c3_dynamic(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{result is [?, 4, ?, ?] but must be [batch, heads, n, n]}}
  %b = transformer.pair_bias %x table @rel index [0] : tensor<?x?x8xf32> -> tensor<?x4x?x?xf32>
  return
}

// -----

func.func @pair_bias_c3_rank(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{result is [?, 2, 2] but must be [batch, heads, tokens, tokens]}}
  %b = transformer.pair_bias %x table @rel index [0] : tensor<?x?x8xf32> -> tensor<?x2x2xf32>
  return
}
