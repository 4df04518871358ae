// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @gather_tokens_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{goes from [?, ?, 8] to [?, 2, 8] but both must be [batch, tokens, channels] with fixed tokens}}
  %y = transformer.gather_tokens %x index [1, 0] group 1 : tensor<?x?x8xf32> -> tensor<?x2x8xf32>
  return
}

// -----

func.func @gather_tokens_c1_rank(%x: tensor<?x2x8xf32>) {
  // expected-error @+1 {{goes from [?, 2, 8] to [?, 8] but both must be [batch, tokens, channels] with fixed tokens}}
  %y = transformer.gather_tokens %x index [1, 0] group 1 : tensor<?x2x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @gather_tokens_c1_length(%x: tensor<?x2x8xf32>) {
  // expected-error @+1 {{index has 3 entries but the result has 2 tokens of 1}}
  %y = transformer.gather_tokens %x index [1, 0, 1] group 1 : tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  return
}

// -----

func.func @gather_tokens_c1_group(%x: tensor<?x2x8xf32>) {
  // expected-error @+1 {{index has 2 entries but the result has 2 tokens of 0}}
  %y = transformer.gather_tokens %x index [1, 0] group 0 : tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  return
}

// -----

// 2^32 * 2^32 is 0 modulo 2^64.
func.func @gather_tokens_c1_overflow(%x: tensor<?x2x8xf32>) {
  // expected-error @+1 {{index has 0 entries but the result has 4294967296 tokens of 4294967296}}
  %y = transformer.gather_tokens %x index [] group 4294967296 : tensor<?x2x8xf32> -> tensor<?x4294967296x8xf32>
  return
}

// -----

func.func @gather_tokens_c1_token(%x: tensor<?x2x8xf32>) {
  // expected-error @+1 {{index names token 2 of 2}}
  %y = transformer.gather_tokens %x index [2, 0] group 1 : tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  return
}

// -----

// -1 is a token of zeros.
func.func @gather_tokens_c1_sign(%x: tensor<?x2x8xf32>) {
  // expected-error @+1 {{index names token -2 of 2}}
  %y = transformer.gather_tokens %x index [-2, 0] group 1 : tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  return
}

// -----

func.func @gather_tokens_c2(%x: tensor<?x2x8xf32>) {
  // expected-error @+1 {{result is [?, 2, 4] but must be [?, 2, 8]}}
  %y = transformer.gather_tokens %x index [1, 0] group 1 : tensor<?x2x8xf32> -> tensor<?x2x4xf32>
  return
}

// -----

func.func @gather_tokens_c2_group(%x: tensor<?x2x8xf32>) {
  // expected-error @+1 {{result is [?, 1, 8] but must be [?, 1, 16]}}
  %y = transformer.gather_tokens %x index [1, 0] group 2 : tensor<?x2x8xf32> -> tensor<?x1x8xf32>
  return
}

// -----

func.func @gather_tokens_c2_unknown(%x: tensor<?x2x?xf32>) {
  // expected-error @+1 {{joins 1 tokens of ? channels}}
  %y = transformer.gather_tokens %x index [1, 0] group 1 : tensor<?x2x?xf32> -> tensor<?x2x8xf32>
  return
}

// -----

func.func @gather_tokens_c2_overflow(%x: tensor<?x2x9223372036854775807xf32>) {
  // expected-error @+1 {{joins 2 tokens of 9223372036854775807 channels}}
  %y = transformer.gather_tokens %x index [1, 0] group 2 : tensor<?x2x9223372036854775807xf32> -> tensor<?x1x8xf32>
  return
}

// -----

func.func @gather_tokens_c1_parts(%x: tensor<?x2x8xf32>) {
  // expected-error @+1 {{index names token 4 of 4}}
  %y = transformer.gather_tokens %x index [4, 0] group 1 parts 2 : tensor<?x2x8xf32> -> tensor<?x2x4xf32>
  return
}

// -----

func.func @gather_tokens_c1_parts_overflow(%x: tensor<?x4611686018427387904x8xf32>) {
  // expected-error @+1 {{has tokens of 2 parts}}
  %y = transformer.gather_tokens %x index [1, 0] group 1 parts 2 : tensor<?x4611686018427387904x8xf32> -> tensor<?x2x4xf32>
  return
}

// -----

func.func @gather_tokens_c2_parts(%x: tensor<?x2x8xf32>) {
  // expected-error @+1 {{has 3 parts but the input has 8 channels}}
  %y = transformer.gather_tokens %x index [1, 0] group 1 parts 3 : tensor<?x2x8xf32> -> tensor<?x2x4xf32>
  return
}
