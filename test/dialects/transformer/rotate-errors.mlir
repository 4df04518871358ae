// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @rotate_c1(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{input has 8 channels but heads is 3 and head_dim is 4}}
  %r = transformer.rotate %q at %p heads 3 head_dim 4 pairing half frequencies [1.0] : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c1_sign(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{heads is -2 but must be > 0}}
  %r = transformer.rotate %q at %p heads -2 head_dim -4 pairing half frequencies [1.0] : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c1_overflow(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{input has 8 channels but heads is 4611686018427387906 and head_dim is 4}}
  %r = transformer.rotate %q at %p heads 4611686018427387906 head_dim 4 pairing half frequencies [1.0] : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c2(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{frequencies turn 6 dimensions but head_dim is 4}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half frequencies [1.0, 0.1, 0.01] : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c2_none(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{has no frequencies}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half frequencies [] : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c3(%q: tensor<?x3x8xf32>, %p: tensor<?x2xi32>) {
  // expected-error @+1 {{positions is [?, 2] but input is [?, 3, 8]}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half frequencies [1.0] : tensor<?x3x8xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @rotate_c4(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{frequencies[1] is inf but must be finite}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half frequencies [1.0, 0x7FF0000000000000] : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c4_factor(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{attention_factor is nan but must be finite}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half frequencies [1.0] attention_factor 0x7FF8000000000000 : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c2_start(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{start is 4 but must be in a head of 4}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 start 4 pairing half frequencies [1.0] : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c2_start_sign(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{start is -1 but must be in a head of 4}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 start -1 pairing half frequencies [1.0] : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c2_behind_start(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{frequencies turn 4 dimensions but head_dim is 4 and start 1}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 start 1 pairing half frequencies [1.0, 0.1] : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

transformer.model @rotate_c2_table {
  transformer.parameter @t : tensor<16x4xf32> = #transformer.stored<"f", "t", tensor<16x4xf32>>
  func.func @forward(%q: tensor<?x?x8xf32> {transformer.name = "q"}, %p: tensor<?x?xi32> {transformer.name = "p"}) {
    // expected-error @+1 {{rows of table @t turn 4 dimensions but head_dim is 4 and start 2}}
    %r = transformer.rotate %q at %p heads 2 head_dim 4 start 2 pairing half table @t : tensor<?x?x8xf32>, tensor<?x?xi32>
    return
  }
}

// -----

func.func @rotate_c5(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{must have either frequencies, a table or positions that are f32}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c5_both(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{must have either frequencies, a table or positions that are f32}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half frequencies [1.0] table @t : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

transformer.model @rotate_c5_rank {
  // expected-note @+1 {{@t is given here}}
  transformer.parameter @t : tensor<16xf32> = #transformer.stored<"f", "t", tensor<16xf32>>
  func.func @forward(%q: tensor<?x?x8xf32> {transformer.name = "q"}, %p: tensor<?x?xi32> {transformer.name = "p"}) {
    // expected-error @+1 {{table @t is [16] but must be [?, ?]}}
    %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half table @t : tensor<?x?x8xf32>, tensor<?x?xi32>
    return
  }
}

// -----

transformer.model @rotate_c5_odd {
  transformer.parameter @t : tensor<16x3xf32> = #transformer.stored<"f", "t", tensor<16x3xf32>>
  func.func @forward(%q: tensor<?x?x8xf32> {transformer.name = "q"}, %p: tensor<?x?xi32> {transformer.name = "p"}) {
    // expected-error @+1 {{table @t has 3 columns but must have an even number}}
    %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half table @t : tensor<?x?x8xf32>, tensor<?x?xi32>
    return
  }
}

// -----

func.func @rotate_c6(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{has 2 frequencies but 1 for long runs}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half frequencies [1.0, 0.1] long <after = 8, frequencies = [1.0]> : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c6_table(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{has `long` but no frequencies}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half table @t long <after = 8, stretch = 2.0> : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c6_stretch(%q: tensor<?x?x8xf32>, %p: tensor<?x?xi32>) {
  // expected-error @+1 {{has a stretch in `long` but only 1 frequency}}
  %r = transformer.rotate %q at %p heads 2 head_dim 4 pairing half frequencies [1.0] long <after = 8, stretch = 2.0> : tensor<?x?x8xf32>, tensor<?x?xi32>
  return
}

// -----

func.func @rotate_c2_given(%q: tensor<?x?x8xf32>, %r: tensor<?x?x6xf32>) {
  // expected-error @+1 {{columns of positions turn 6 dimensions but head_dim is 4}}
  %s = transformer.rotate %q at %r heads 2 head_dim 4 pairing half : tensor<?x?x8xf32>, tensor<?x?x6xf32>
  return
}

// -----

func.func @rotate_c3_given(%q: tensor<?x3x8xf32>, %r: tensor<?x2x4xf32>) {
  // expected-error @+1 {{positions is [?, 2, 4] but input is [?, 3, 8]}}
  %s = transformer.rotate %q at %r heads 2 head_dim 4 pairing half : tensor<?x3x8xf32>, tensor<?x2x4xf32>
  return
}

// -----

func.func @rotate_c5_given(%q: tensor<?x?x8xf32>, %r: tensor<?x?x3xf32>) {
  // expected-error @+1 {{positions are f32 but have 3 columns, no even number from 2}}
  %s = transformer.rotate %q at %r heads 2 head_dim 4 pairing half : tensor<?x?x8xf32>, tensor<?x?x3xf32>
  return
}

// -----

func.func @rotate_c5_given_factor(%q: tensor<?x?x8xf32>, %r: tensor<?x?x4xf32>) {
  // expected-error @+1 {{attention_factor is 2.0 but positions are cosines and sines}}
  %s = transformer.rotate %q at %r heads 2 head_dim 4 pairing half attention_factor 2.0 : tensor<?x?x8xf32>, tensor<?x?x4xf32>
  return
}

// -----

func.func @rotate_c5_given_frequencies(%q: tensor<?x?x8xf32>, %r: tensor<?x?x4xf32>) {
  // expected-error @+1 {{must have either frequencies, a table or positions that are f32}}
  %s = transformer.rotate %q at %r heads 2 head_dim 4 pairing half frequencies [1.0] : tensor<?x?x8xf32>, tensor<?x?x4xf32>
  return
}
