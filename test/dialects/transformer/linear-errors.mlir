// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @linear_c1 {
  // expected-note @+1 {{@w is given here}}
  transformer.parameter @w : tensor<8x24xf32> = #transformer.stored<"f", "w", tensor<8x24xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{weight @w is [8, 24] but must be [24, 8]}}
    %y = transformer.linear %x weight @w : tensor<?x?x8xf32> -> tensor<?x?x24xf32>
    return
  }
}

// -----

// In a body the name is a column: its first entry says the shape.
transformer.model @linear_c1_slot {
  // expected-note @+1 {{@"layers.*.w" is given here}}
  transformer.parameter @layers.0.w : tensor<8x4xf32> = #transformer.stored<"f", "w0", tensor<8x4xf32>>
  transformer.parameter @layers.1.w : tensor<8x4xf32> = #transformer.stored<"f", "w1", tensor<8x4xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    %y = transformer.layers %x slots [["layers.*.w"]] bodies [0, 0] table [[@layers.0.w], [@layers.1.w]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      // expected-error @+1 {{weight @"layers.*.w" is [8, 4] but must be [8, 8]}}
      %0 = transformer.linear %s weight @"layers.*.w" : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
      transformer.yield %0 : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @linear_c1_number {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-note @+1 {{@"layers.*.w" is given here}}
    %y = transformer.layers %x slots [["layers.*.w"]] bodies [0] table [[2.0]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      // expected-error @+1 {{weight @"layers.*.w" is the number 2.000000e+00 : f64 but must be [8, 8]}}
      %0 = transformer.linear %s weight @"layers.*.w" : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
      transformer.yield %0 : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @linear_c2 {
  transformer.parameter @w : tensor<24x8xf32> = #transformer.stored<"f", "w", tensor<24x8xf32>>
  // expected-note @+1 {{@b is given here}}
  transformer.parameter @b : tensor<8xf32> = #transformer.stored<"f", "b", tensor<8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{bias @b is [8] but must be [24]}}
    %y = transformer.linear %x weight @w bias @b : tensor<?x?x8xf32> -> tensor<?x?x24xf32>
    return
  }
}

// -----

func.func @linear_c3(%x: tensor<?x4x8xf32>) {
  // expected-error @+1 {{input is [?, 4, 8] but result is [?, 5, 24]}}
  %y = transformer.linear %x weight @w : tensor<?x4x8xf32> -> tensor<?x5x24xf32>
  return
}

// -----

func.func @linear_c4(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{scale is nan but must be finite}}
  %y = transformer.linear %x weight @w scale 0x7FF8000000000000 : tensor<?x?x8xf32> -> tensor<?x?x24xf32>
  return
}

// -----

func.func @linear_rank(%x: tensor<8xf32>) {
  // expected-error @+1 {{must be f32 tensor of rank 2 or more}}
  %y = transformer.linear %x weight @w : tensor<8xf32> -> tensor<24xf32>
  return
}

// -----

transformer.model @linear_c1_experts {
  // expected-note @+1 {{@w is given here}}
  transformer.parameter @w : tensor<24x8xf32> = #transformer.stored<"f", "w", tensor<24x8xf32>>
  transformer.parameter @b : tensor<4x24xf32> = #transformer.stored<"f", "b", tensor<4x24xf32>>
  func.func @forward(%x: tensor<?x?x2x8xf32> {transformer.name = "x"}, %e: tensor<?x?x2xi32> {transformer.name = "e"}) {
    // expected-error @+1 {{weight @w is [24, 8] but must be [?, 24, 8]}}
    %y = transformer.linear %x experts %e : tensor<?x?x2xi32> weight @w bias @b : tensor<?x?x2x8xf32> -> tensor<?x?x2x24xf32>
    return
  }
}

// -----

transformer.model @linear_c2_experts {
  transformer.parameter @w : tensor<4x24x8xf32> = #transformer.stored<"f", "w", tensor<4x24x8xf32>>
  // expected-note @+1 {{@b is given here}}
  transformer.parameter @b : tensor<24xf32> = #transformer.stored<"f", "b", tensor<24xf32>>
  func.func @forward(%x: tensor<?x?x2x8xf32> {transformer.name = "x"}, %e: tensor<?x?x2xi32> {transformer.name = "e"}) {
    // expected-error @+1 {{bias @b is [24] but must be [?, 24]}}
    %y = transformer.linear %x experts %e : tensor<?x?x2xi32> weight @w bias @b : tensor<?x?x2x8xf32> -> tensor<?x?x2x24xf32>
    return
  }
}

// -----

func.func @linear_c3_experts(%x: tensor<?x?x2x8xf32>, %e: tensor<?x?x3xi32>) {
  // expected-error @+1 {{experts is [?, ?, 3] but input is [?, ?, 2, 8]}}
  %y = transformer.linear %x experts %e : tensor<?x?x3xi32> weight @w : tensor<?x?x2x8xf32> -> tensor<?x?x2x24xf32>
  return
}

// -----

func.func @linear_c2_transposed(%x: tensor<?x?x24xf32>) {
  // expected-error @+1 {{is transposed but has bias @b}}
  %y = transformer.linear %x weight @w bias @b transposed : tensor<?x?x24xf32> -> tensor<?x?x8xf32>
  return
}
