// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @softcap_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{cap is 0.0 but must be finite and > 0}}
  %y = transformer.softcap %x cap 0.0 : tensor<?x?x8xf32>
  return
}
