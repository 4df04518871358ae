// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @pool_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{input is [?, ?, 8] but result is [?, 4]}}
  %p = transformer.pool %x by first : tensor<?x?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @pool_c2(%x: tensor<?x5x8xf32>, %m: tensor<?x4xi32>) {
  // expected-error @+1 {{key_mask is [?, 4] but input is [?, 5, 8]}}
  %p = transformer.pool %x key_mask %m : tensor<?x4xi32> by last : tensor<?x5x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_c2_ids(%x: tensor<?x5x8xf32>, %i: tensor<?x4xi32>) {
  // expected-error @+1 {{ids is [?, 4] but input is [?, 5, 8]}}
  %p = transformer.pool %x ids %i : tensor<?x4xi32> by first_id id 2 : tensor<?x5x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_c3(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{pools by first_id but has no ids}}
  %p = transformer.pool %x by first_id id 2 : tensor<?x?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_c3_ids(%x: tensor<?x?x8xf32>, %i: tensor<?x?xi32>) {
  // expected-error @+1 {{pools by mean but has ids}}
  %p = transformer.pool %x ids %i : tensor<?x?xi32> by mean : tensor<?x?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_c4(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{skip is -1 for mean}}
  %p = transformer.pool %x by mean skip -1 : tensor<?x?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_c4_last(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{skip is 1 for last}}
  %p = transformer.pool %x by last skip 1 : tensor<?x?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_c4_tokens(%x: tensor<?x5x8xf32>) {
  // expected-error @+1 {{skip is 5 but there are 5 tokens}}
  %p = transformer.pool %x by first skip 5 : tensor<?x5x8xf32> -> tensor<?x8xf32>
  return
}
