// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @combine_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{goes between [?, ?, 8] and [?, ?, 8] but must add a fixed dimension before the channels}}
  %y = transformer.combine %x : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @combine_c1_tokens(%x: tensor<?x5x2x8xf32>) {
  // expected-error @+1 {{goes between [?, 4, 8] and [?, 5, 2, 8] but must add a fixed dimension before the channels}}
  %y = transformer.combine %x : tensor<?x5x2x8xf32> -> tensor<?x4x8xf32>
  return
}

// -----

func.func @combine_c2(%x: tensor<?x?x2x8xf32>, %w: tensor<?x?x3xf32>) {
  // expected-error @+1 {{weights is [?, ?, 3] but must be [?, ?, 2]}}
  %y = transformer.combine %x times %w : tensor<?x?x3xf32> : tensor<?x?x2x8xf32> -> tensor<?x?x8xf32>
  return
}
