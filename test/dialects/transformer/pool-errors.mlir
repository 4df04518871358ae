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
