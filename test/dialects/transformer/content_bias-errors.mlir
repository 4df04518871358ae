// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @content_bias_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{buckets has 4 entries but must have an odd number}}
  %b = transformer.content_bias %x of_key false table @pos factor 0.5 buckets [0, 1, 2, 3] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
  return
}

// -----

transformer.model @content_bias_c1_rows {
  transformer.parameter @pos : tensor<2x8xf32> = #transformer.stored<"f", "pos", tensor<2x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{buckets has entries from 0 to 2 but table @pos has 2 rows}}
    %b = transformer.content_bias %x of_key false table @pos factor 0.5 buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    return
  }
}

// -----

transformer.model @content_bias_c2 {
  // expected-note @+1 {{@pos is given here}}
  transformer.parameter @pos : tensor<3x4xf32> = #transformer.stored<"f", "pos", tensor<3x4xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{table @pos is [3, 4] but must be [?, 8]}}
    %b = transformer.content_bias %x of_key false table @pos factor 0.5 buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    return
  }
}

// -----

func.func @content_bias_c3(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{input has 8 channels but there are 3 heads}}
  %b = transformer.content_bias %x of_key false table @pos factor 0.5 buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x3x?x?xf32>
  return
}

// -----

func.func @content_bias_c3_heads(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{result is [?, 0, ?, ?] but must be [batch, heads, tokens, tokens]}}
  %b = transformer.content_bias %x of_key false table @pos factor 0.5 buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x0x?x?xf32>
  return
}

// -----

func.func @content_bias_c4(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{factor is inf but must be finite}}
  %b = transformer.content_bias %x of_key false table @pos factor 0x7FF0000000000000 buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
  return
}
