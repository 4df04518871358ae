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
