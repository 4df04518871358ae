// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @similarity_c1(%a: tensor<?x8xf32>, %b: tensor<?x4xf32>) {
  // expected-error @+1 {{left is [?, 8], right is [?, 4] and the result is [?, ?] but they must be [batch, c], [batch, c] and [batch, batch]}}
  %s = transformer.similarity %a, %b : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @similarity_c1_rank(%a: tensor<?x?x8xf32>, %b: tensor<?x8xf32>) {
  // expected-error @+1 {{left is [?, ?, 8], right is [?, 8] and the result is [?, ?] but they must be [batch, c], [batch, c] and [batch, batch]}}
  %s = transformer.similarity %a, %b : tensor<?x?x8xf32>, tensor<?x8xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @similarity_c1_result(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>) {
  // expected-error @+1 {{left is [?, 8], right is [?, 8] and the result is [?, ?, ?] but they must be [batch, c], [batch, c] and [batch, batch]}}
  %s = transformer.similarity %a, %b : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x?x?xf32>
  return
}

// -----

func.func @similarity_c1_batch(%a: tensor<2x8xf32>, %b: tensor<?x8xf32>) {
  // expected-error @+1 {{left is [2, 8], right is [?, 8] and the result is [3, ?] but they must be [batch, c], [batch, c] and [batch, batch]}}
  %s = transformer.similarity %a, %b : tensor<2x8xf32>, tensor<?x8xf32> -> tensor<3x?xf32>
  return
}
