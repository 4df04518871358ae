// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @clamp_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{low is 7.0 and high 7.0 but low must be < high}}
  %y = transformer.clamp %x low 7.0 high 7.0 : tensor<?x?x8xf32>
  return
}

// -----

func.func @clamp_c1_nan(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{low is -1.0 and high nan but low must be < high}}
  %y = transformer.clamp %x low -1.0 high 0x7FF8000000000000 : tensor<?x?x8xf32>
  return
}
