// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @gather_tokens_c1(%x: tensor<?x8xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{index has 3 entries but group is 2}}
  %y = kernel.gather_tokens %x index [1, 0, 1] group 2 tokens 2 outs(%o : tensor<?x16xf32>) : tensor<?x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @gather_tokens_c1_none(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{index has 0 entries but group is 1}}
  %y = kernel.gather_tokens %x index [] group 1 tokens 2 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @gather_tokens_c1_token(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{index names token 2 of 2}}
  %y = kernel.gather_tokens %x index [1, 2] group 1 tokens 2 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @gather_tokens_c1_sign(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{index names token -2 of 2}}
  %y = kernel.gather_tokens %x index [1, -2] group 1 tokens 2 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @gather_tokens_c1_group(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{group is 0 but must be > 0}}
  %y = kernel.gather_tokens %x index [1, 0] group 0 tokens 2 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @gather_tokens_c1_tokens(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{tokens is -2 but must be > 0}}
  %y = kernel.gather_tokens %x index [1, 0] group 1 tokens -2 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @gather_tokens_c2(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs has 8 columns but must have 16}}
  %y = kernel.gather_tokens %x index [1, 0] group 2 tokens 2 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @gather_tokens_c2_overflow(%x: tensor<?x9223372036854775807xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{joins 2 tokens of 9223372036854775807 columns}}
  %y = kernel.gather_tokens %x index [1, 0] group 2 tokens 2 outs(%o : tensor<?x8xf32>) : tensor<?x9223372036854775807xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @gather_tokens_c3(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.gather_tokens %x index [1, 0] group 1 tokens 2 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>
  return
}

// -----

func.func @gather_tokens_c1_parts(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{parts is 0 but must be > 0}}
  %y = kernel.gather_tokens %x index [1, 0] group 1 parts 0 tokens 2 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @gather_tokens_c1_overflow(%x: tensor<?x8xf32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{has 4611686018427387904 tokens of 2 parts}}
  %y = kernel.gather_tokens %x index [1, 0] group 1 parts 2 tokens 4611686018427387904 outs(%o : tensor<?x4xf32>) : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @gather_tokens_c2_parts(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{input has 8 columns but parts is 3}}
  %y = kernel.gather_tokens %x index [1, 0] group 1 parts 3 tokens 2 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}
