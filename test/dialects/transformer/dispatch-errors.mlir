// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @dispatch_c1(%x: tensor<?x?x8xf32>, %e: tensor<?x?x2xi32>) {
  // expected-error @+1 {{goes between [?, ?, 8] and [?, ?, 8] but must add a fixed dimension before the channels}}
  %y = transformer.dispatch %x to %e : tensor<?x?x8xf32>, tensor<?x?x2xi32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @dispatch_c1_channels(%x: tensor<?x?x8xf32>, %e: tensor<?x?x2xi32>) {
  // expected-error @+1 {{goes between [?, ?, 8] and [?, ?, 2, 4] but must add a fixed dimension before the channels}}
  %y = transformer.dispatch %x to %e : tensor<?x?x8xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
  return
}

// -----

func.func @dispatch_c1_unknown(%x: tensor<?x?x8xf32>, %e: tensor<?x?x2xi32>) {
  // expected-error @+1 {{goes between [?, ?, 8] and [?, ?, ?, 8] but must add a fixed dimension before the channels}}
  %y = transformer.dispatch %x to %e : tensor<?x?x8xf32>, tensor<?x?x2xi32> -> tensor<?x?x?x8xf32>
  return
}

// -----

func.func @dispatch_c1_experts(%x: tensor<?x?x8xf32>, %e: tensor<?x?x3xi32>) {
  // expected-error @+1 {{experts is [?, ?, 3] but must be [?, ?, 2]}}
  %y = transformer.dispatch %x to %e : tensor<?x?x8xf32>, tensor<?x?x3xi32> -> tensor<?x?x2x8xf32>
  return
}

// -----

func.func @dispatch_c2(%x: tensor<?x?x8xf32>, %e: tensor<?x?x2xi32>, %w: tensor<?x?x3xf32>) {
  // expected-error @+1 {{weights is [?, ?, 3] but must be [?, ?, 2]}}
  %y = transformer.dispatch %x to %e times %w : tensor<?x?x3xf32> : tensor<?x?x8xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x8xf32>
  return
}
