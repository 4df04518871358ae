// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @distance_bias_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{buckets has 2 entries but must have an odd number}}
  %b = transformer.distance_bias %x table @rel buckets [0, 1] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
  return
}

// -----

func.func @distance_bias_c1_none(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{buckets has 0 entries but must have an odd number}}
  %b = transformer.distance_bias %x table @rel buckets [] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
  return
}

// -----

transformer.model @distance_bias_c1_rows {
  transformer.parameter @rel : tensor<2x2xf32> = #transformer.stored<"f", "rel", tensor<2x2xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{buckets has entries from 0 to 2 but table @rel has 2 rows}}
    %b = transformer.distance_bias %x table @rel buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    return
  }
}

// -----

transformer.model @distance_bias_c1_sign {
  transformer.parameter @rel : tensor<2x2xf32> = #transformer.stored<"f", "rel", tensor<2x2xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{buckets has entries from -1 to 1 but table @rel has 2 rows}}
    %b = transformer.distance_bias %x table @rel buckets [-1, 0, 1] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    return
  }
}

// -----

transformer.model @distance_bias_c2 {
  // expected-note @+1 {{@rel is given here}}
  transformer.parameter @rel : tensor<2x4xf32> = #transformer.stored<"f", "rel", tensor<2x4xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{table @rel is [2, 4] but must be [?, 2]}}
    %b = transformer.distance_bias %x table @rel buckets [0, 1, 0] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    return
  }
}

// -----

func.func @distance_bias_c3(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{result is [?, ?, 2] but must be [batch, heads, tokens, tokens]}}
  %b = transformer.distance_bias %x table @rel buckets [0] : tensor<?x?x8xf32> -> tensor<?x?x2xf32>
  return
}

// -----

func.func @distance_bias_c3_heads(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{result is [?, ?, 3, 3] but must be [batch, heads, tokens, tokens]}}
  %b = transformer.distance_bias %x table @rel buckets [0] : tensor<?x?x8xf32> -> tensor<?x?x3x3xf32>
  return
}

// -----

func.func @distance_bias_c3_no_heads(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{result is [?, 0, 3, 3] but must be [batch, heads, tokens, tokens]}}
  %b = transformer.distance_bias %x table @rel buckets [0] : tensor<?x?x8xf32> -> tensor<?x0x3x3xf32>
  return
}
