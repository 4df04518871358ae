// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @rotate_c1(%x: tensor<?x6xf32>, %r: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{input has 6 columns but heads is 2 and head_dim is 4}}
  %y = kernel.rotate %x by %r outs(%o : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0
    : tensor<?x6xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @rotate_c1_outs(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>, %o: tensor<?x4xf32>) {
  // expected-error @+1 {{outs has 4 columns but heads is 2 and head_dim is 4}}
  %y = kernel.rotate %x by %r outs(%o : tensor<?x4xf32>) heads 2 head_dim 4 pairing half start 0
    : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @rotate_c1_size(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{heads is 0 but must be > 0}}
  %y = kernel.rotate %x by %r outs(%o : tensor<?x8xf32>) heads 0 head_dim 4 pairing half start 0
    : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @rotate_c1_overflow(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{input has 8 columns but heads is 4611686018427387906 and head_dim is 4}}
  %y = kernel.rotate %x by %r outs(%o : tensor<?x8xf32>) heads 4611686018427387906 head_dim 4 pairing half start 0
    : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @rotate_c2(%x: tensor<?x8xf32>, %r: tensor<?x3xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{rotation has 3 columns but must be even and at most head_dim, 4}}
  %y = kernel.rotate %x by %r outs(%o : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0
    : tensor<?x8xf32>, tensor<?x3xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @rotate_c2_start(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{rotation has 4 columns but must be even and at most head_dim, 4, less start, 2}}
  %y = kernel.rotate %x by %r outs(%o : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 2
    : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @rotate_c2_rank(%x: tensor<?x8xf32>, %r: tensor<4xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{rotation is 'tensor<4xf32>' but must be f32 [rows, columns]}}
  %y = kernel.rotate %x by %r outs(%o : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0
    : tensor<?x8xf32>, tensor<4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @rotate_c3(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.rotate %x by %r outs(%o : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0
    : tensor<?x8xf32>, tensor<?x4xf32>
  return
}
