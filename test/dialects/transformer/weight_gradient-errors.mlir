// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @weight_gradient_c1 {
  // expected-note @+1 {{@w is given here}}
  transformer.parameter @w : tensor<8x24xf32> = #transformer.stored<"f", "w", tensor<8x24xf32>>
  func.func @forward(%g: tensor<?x?x24xf32> {transformer.name = "g"}, %x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{weight @w is [8, 24] but must be [24, 8]}}
    transformer.weight_gradient %g, %x weight @w : tensor<?x?x24xf32>, tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @weight_gradient_c2 {
  transformer.parameter @w : tensor<24x8xf32> = #transformer.stored<"f", "w", tensor<24x8xf32>>
  // expected-note @+1 {{@b is given here}}
  transformer.parameter @b : tensor<8xf32> = #transformer.stored<"f", "b", tensor<8xf32>>
  func.func @forward(%g: tensor<?x?x24xf32> {transformer.name = "g"}, %x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{bias @b is [8] but must be [24]}}
    transformer.weight_gradient %g, %x weight @w bias @b : tensor<?x?x24xf32>, tensor<?x?x8xf32>
    return
  }
}

// -----

func.func @weight_gradient_c3(%g: tensor<2x4x24xf32>, %x: tensor<2x5x8xf32>) {
  // expected-error @+1 {{gradient is [2, 4, 24] but input is [2, 5, 8]}}
  transformer.weight_gradient %g, %x weight @w : tensor<2x4x24xf32>, tensor<2x5x8xf32>
  return
}

// -----

func.func @weight_gradient_c3_experts(%g: tensor<2x5x24xf32>, %x: tensor<2x5x8xf32>, %e: tensor<2x4xi32>) {
  // expected-error @+1 {{experts is [2, 4] but input is [2, 5, 8]}}
  transformer.weight_gradient %g, %x experts %e : tensor<2x4xi32> weight @w : tensor<2x5x24xf32>, tensor<2x5x8xf32>
  return
}

// -----

func.func @weight_gradient_c4(%g: tensor<2x5x24xf32>, %x: tensor<2x5x8xf32>) {
  // expected-error @+1 {{scale is inf but must be finite}}
  transformer.weight_gradient %g, %x weight @w scale 0x7FF0000000000000 : tensor<2x5x24xf32>, tensor<2x5x8xf32>
  return
}

// -----

func.func @weight_gradient_c5(%g: tensor<2x5x24xf32>, %x: tensor<2x5x8xf32>) {
  // expected-error @+1 {{fixed_rows is array<i64: 5, 0, 1> but must be [period, first, count] of 24 rows}}
  transformer.weight_gradient %g, %x weight @w fixed_rows [5, 0, 1] : tensor<2x5x24xf32>, tensor<2x5x8xf32>
  return
}

// -----

func.func @weight_gradient_c5_experts(%g: tensor<2x5x24xf32>, %x: tensor<2x5x8xf32>, %e: tensor<2x5xi32>) {
  // expected-error @+1 {{has fixed_rows and experts}}
  transformer.weight_gradient %g, %x experts %e : tensor<2x5xi32> weight @w fixed_rows [6, 4, 2] : tensor<2x5x24xf32>, tensor<2x5x8xf32>
  return
}
