// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @weight_c1 {
  transformer.parameter @w : tensor<8x8xf32> = #transformer.stored<"f", "w", tensor<8x8xf32>>
  func.func @forward() {
    // expected-error @+1 {{value is [16, 8] but the result is 'tensor<8x8xf32>'}}
    %w = kernel.weight #transformer.concat<@w, @w> -> tensor<8x8xf32>
    return
  }
}

// -----

transformer.model @weight_c1_name {
  func.func @forward() {
    // expected-error @+1 {{value names @w, which is not a parameter}}
    %w = kernel.weight @w -> memref<8x8xf32>
    return
  }
}
