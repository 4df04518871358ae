// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @count_tokens_c1(%mask: tensor<?x?xi32>) {
  // expected-error @+1 {{first is -1 but must be >= 0}}
  %c = transformer.count_tokens %mask first -1 : tensor<?x?xi32>
  return
}

// -----

func.func @count_tokens_c1_each(%mask: tensor<?x?xi32>) {
  // expected-error @+1 {{each is 0 but must be > 0}}
  %c = transformer.count_tokens %mask each 0 : tensor<?x?xi32>
  return
}

// -----

func.func @count_tokens_c2(%mask: tensor<2x?xi32>, %past: tensor<3xi32>) {
  // expected-error @+1 {{past is [3] but must be [2]}}
  %c = transformer.count_tokens %mask past %past : tensor<3xi32> first 2 : tensor<2x?xi32>
  return
}
