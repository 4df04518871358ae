// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @linear_by_head_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{heads is 3 but input has 8 channels and the result 12}}
  %y = transformer.linear_by_head %x weight @w heads 3 : tensor<?x?x8xf32> -> tensor<?x?x12xf32>
  return
}

// -----

func.func @linear_by_head_c1_result(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{heads is 4 but input has 8 channels and the result 10}}
  %y = transformer.linear_by_head %x weight @w heads 4 : tensor<?x?x8xf32> -> tensor<?x?x10xf32>
  return
}

// -----

func.func @linear_by_head_c1_none(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{heads is 0 but input has 8 channels and the result 12}}
  %y = transformer.linear_by_head %x weight @w heads 0 : tensor<?x?x8xf32> -> tensor<?x?x12xf32>
  return
}

// -----

func.func @linear_by_head_c2(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{input is [?, ?, 8] but result is [?, 12]}}
  %y = transformer.linear_by_head %x weight @w heads 2 : tensor<?x?x8xf32> -> tensor<?x12xf32>
  return
}

// -----

transformer.model @linear_by_head_c3 {
  // expected-note @+1 {{@w is given here}}
  transformer.parameter @w : tensor<2x4x6xf32> = #transformer.stored<"f", "w", tensor<2x4x6xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{weight @w is [2, 4, 6] but must be [2, 6, 4]}}
    %y = transformer.linear_by_head %x weight @w heads 2 : tensor<?x?x8xf32> -> tensor<?x?x12xf32>
    return
  }
}
