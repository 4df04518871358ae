// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: test.blocks = #transformer.stored<"model.gguf", "token_embd.weight", tensor<64x32xf32>, q4_0>
// CHECK: test.long = #transformer.stored<"model.gguf", "output.weight", tensor<8x512xf32>, iq4_xs>
// CHECK: test.plain = #transformer.stored<"model.safetensors", "wte.weight", tensor<64x32xbf16>>
// The element type says what has no blocks.
// CHECK: test.said = #transformer.stored<"f", "w", tensor<4xf32>>
module attributes {
  test.plain = #transformer.stored<"model.safetensors", "wte.weight", tensor<64x32xbf16>>,
  test.blocks = #transformer.stored<"model.gguf", "token_embd.weight", tensor<64x32xf32>, q4_0>,
  test.long = #transformer.stored<"model.gguf", "output.weight", tensor<8x512xf32>, iq4_xs>,
  test.said = #transformer.stored<"f", "w", tensor<4xf32>, f32>
} {}
