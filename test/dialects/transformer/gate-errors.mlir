// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @gate_c1(%g: tensor<?x?x8xf32>, %u: tensor<?x?x8xf32>) {
  // expected-error @+1 {{up_offset is inf but must be finite}}
  %y = transformer.gate %g, %u by silu up_offset 0x7FF0000000000000 : tensor<?x?x8xf32>
  return
}
