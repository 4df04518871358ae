// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @position_bias_c1(%p: tensor<?x?xi32>) {
  // expected-error @+1 {{positions is [?, ?] but result is [?, 3, ?, ?] with 2 slopes}}
  %b = transformer.position_bias %p slopes [0.5, 0.25] : tensor<?x?xi32> -> tensor<?x3x?x?xf32>
  return
}

// -----

func.func @position_bias_c1_rank(%p: tensor<?x?xi32>) {
  // expected-error @+1 {{positions is [?, ?] but result is [?, 2, ?] with 2 slopes}}
  %b = transformer.position_bias %p slopes [0.5, 0.25] : tensor<?x?xi32> -> tensor<?x2x?xf32>
  return
}

// -----

func.func @position_bias_c2(%p: tensor<?x?xi32>) {
  // expected-error @+1 {{slopes[0] is -inf but must be finite}}
  %b = transformer.position_bias %p slopes [0xFFF0000000000000] : tensor<?x?xi32> -> tensor<?x1x?x?xf32>
  return
}
