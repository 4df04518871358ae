// MLIR texts of kernels of every kind.
#pragma once
#include <string>

namespace mille::test {

// Of bf16, K = 48.
inline const std::string pairsText =
    R"(func.func @f(%in: memref<?x48xbf16>, %w: memref<3x24x128xbf16>, %o: memref<?x192xf32>) {
 kernel.matmul %in, %w outs(%o : memref<?x192xf32>) accumulators 1 {
^bb0(%a: f32):
 kernel.yield %a : f32
 } : memref<?x48xbf16>, memref<3x24x128xbf16>
 return
})";

// A feed-forward's second matmul of bf16, rows padded.
inline const std::string residualText =
    R"(func.func @f(%in: memref<?x3072xbf16, strided<[3104, 1]>>, %w: memref<16x1536x96xbf16>, %r: memref<?x768xf32, strided<[784, 1]>>, %o: memref<?x768xf32, strided<[784, 1]>>) {
 kernel.matmul %in, %w extras(%r : memref<?x768xf32, strided<[784, 1]>>) outs(%o : memref<?x768xf32, strided<[784, 1]>>) accumulators 1 {
^bb0(%a: f32, %b: f32):
 %y = arith.addf %a, %b : f32
 kernel.yield %y : f32
 } : memref<?x3072xbf16, strided<[3104, 1]>>, memref<16x1536x96xbf16>
 return
})";

// Of bytes, K = 48, stored in bf16.
inline const std::string bytesText =
    R"(func.func @f(%in: memref<?x48xui8>, %w: memref<3x12x256xi8>, %z: memref<?x4xf32>, %u: memref<3x1x64xi32>, %o: memref<?x192xbf16>) {
 kernel.matmul %in, %w parameters %z : memref<?x4xf32> sums %u : memref<3x1x64xi32> outs(%o : memref<?x192xbf16>) accumulators 1 {
^bb0(%a: f32):
 kernel.yield %a : f32
 } : memref<?x48xui8>, memref<3x12x256xi8>
 return
})";

inline const std::string quantizeText =
    R"(func.func @f(%x: memref<?x100xbf16>, %v: memref<?x100xui8>, %p: memref<?x4xf32>) {
 kernel.quantize %x values(%v : memref<?x100xui8>) parameters(%p : memref<?x4xf32>) : memref<?x100xbf16>
 return
})";

inline std::string matmul(int columns, const std::string &region,
                          int stride = 0) {
  std::string n = std::to_string(columns),
              p = std::to_string((columns + 63) / 64);
  std::string o = "memref<?x" + n + "xf32, strided<[" +
                  std::to_string(stride ? stride : columns) + ", 1]>>";
  return "func.func @f(%in: memref<?x48xf32>, %w: memref<" + p +
         "x48x64xf32>, %bias: memref<" + n + "xf32>, %o: " + o +
         ") {\n %outer = arith.constant 2.5 : f32\n"
         " kernel.matmul %in, %w extras(%bias : memref<" +
         n + "xf32>) outs(%o : " + o +
         ") accumulators 1 {\n^bb0(%a: f32, %b: f32):\n" + region +
         " } : memref<?x48xf32>, memref<" + p + "x48x64xf32>\n return\n}\n";
}
inline const std::string addBias =
    " %y = arith.addf %a, %b : f32\n kernel.yield %y : f32\n";
inline const std::string geluRegion =
    " %t = math.erfc %a : f32\n %y = arith.mulf %t, %b : f32\n"
    " kernel.yield %y : f32\n";
inline const std::string inside =
    " %c = arith.constant 2.5 : f32\n %y = arith.mulf %a, %c : f32\n"
    " kernel.yield %y : f32\n";
inline const std::string geluText =
    R"(func.func @f(%x: memref<?x64xbf16>, %o: memref<?x64xbf16>) {
 kernel.rows ins(%x : memref<?x64xbf16>) outs(%o : memref<?x64xbf16>) gather [-1] {
^bb0(%a: f32):
 %h = arith.constant 0.5 : f32
 %c = arith.constant -0.70710678118654757 : f32
 %p = arith.mulf %h, %a : f32
 %t = arith.mulf %c, %a : f32
 %e = math.erfc %t : f32
 %y = arith.mulf %p, %e : f32
 kernel.yield %y : f32
 }
 return
})";
inline const std::string hoisted =
    " %q = arith.mulf %a, %outer : f32\n kernel.yield %q : f32\n";

// Of 2 heads of so many channels.
inline std::string attentionOf(int channels) {
  auto rows = [](int columns) {
    return "memref<?x" + std::to_string(columns) + "xf32>";
  };
  const std::string c = std::to_string(channels), x = rows(6 * channels),
                    o = rows(2 * channels);
  return "func.func @f(%t: index, %p: index, %x: " + x + ", %o: " + o +
         ") {\n"
         " kernel.attention %x, %x, %x queries %t keys %t first %p outs(%o : " +
         o +
         ")\n"
         "   heads 2 kv_heads 2 head_dim " +
         c + " value_dim " + c + " offsets [0, " +
         std::to_string(2 * channels) + ", " + std::to_string(4 * channels) +
         "] scale 0.5 causal true\n   : " + x + ", " + x + ", " + x +
         "\n return\n}\n";
}
inline const std::string attentionText = attentionOf(8);

// Attention with operands, and what is no matmul: {x} is [rows, 48].
inline std::string withOperands(const std::string &arguments,
                                const std::string &op) {
  return "func.func @f(%t: index, %p: index, %x: memref<?x48xf32>, %o: "
         "memref<?x16xf32>, "
         "%wide: memref<?x48xf32>, " +
         arguments + ") {\n " + op + "\n return\n}\n";
}
inline std::string attentionWith(const std::string &arguments,
                                 const std::string &operands,
                                 const std::string &attributes) {
  return withOperands(
      arguments, "kernel.attention %x, %x, %x " + operands +
                     " queries %t keys %t first %p outs(%o : memref<?x16xf32>) "
                     "heads 2 kv_heads 2 head_dim 8"
                     " value_dim 8 offsets [0, 16, 32] scale 0.5 causal true " +
                     attributes +
                     " : memref<?x48xf32>, memref<?x48xf32>, memref<?x48xf32>");
}
inline const std::string windowed = attentionWith(
    "%s: memref<2xf32>", "sink %s : memref<2xf32>", "window [5, 0]");
inline const std::string turned = attentionWith(
    "%r: memref<?x4xf32>", "rotation %r : memref<?x4xf32>", "start 2");
inline const std::string byDistance = attentionWith(
    "%b: memref<2x9xf32>", "bias %b : memref<2x9xf32>", "bias_by distance");
inline const std::string linear = withOperands(
    "%d: memref<2xf32>",
    "kernel.linear_attention %x, %x, %x decay %d : memref<2xf32> tokens %t"
    " outs(%o : memref<?x16xf32>) heads 2 kv_heads 2 head_dim 8 value_dim 8"
    " offsets [0, 16, 32] scale 1.0 : memref<?x48xf32>, memref<?x48xf32>, "
    "memref<?x48xf32>");
inline const std::string rotate = withOperands(
    "%r: memref<?x4xf32>", "kernel.rotate %x by %r outs(%wide : "
                           "memref<?x48xf32>) heads 3 head_dim 16 pairing half"
                           " start 0 : memref<?x48xf32>, memref<?x4xf32>");
inline const std::string dispatch = withOperands(
    "%order: memref<?xi32>, %place: memref<?xi32>, %w: memref<?x2xf32>",
    "kernel.dispatch %x order %order : memref<?xi32> place %place : "
    "memref<?xi32>"
    " times %w : memref<?x2xf32> outs(%wide : memref<?x48xf32>) k 2 : "
    "memref<?x48xf32>");
inline const std::string combine = withOperands(
    "%place: memref<?xi32>, %w: memref<?x2xf32>",
    "kernel.combine %x place %place : memref<?xi32> times %w : memref<?x2xf32>"
    " outs(%wide : memref<?x48xf32>) k 2 : memref<?x48xf32>");
inline const std::string groupNorm =
    withOperands("%g: memref<48xf32>",
                 "kernel.rows ins(%x, %g : memref<?x48xf32>, memref<48xf32>) "
                 "outs(%wide : memref<?x48xf32>)"
                 " gather [-1, -1] norm <layer, 1.000000e-05, group = 16> "
                 "{\n^bb0(%a: f32, %b: f32):\n"
                 " %y = arith.mulf %a, %b : f32\n kernel.yield %y : f32\n }");

// Rows of f32 as rows of bf16.
inline std::string narrowed(std::string text) {
  for (size_t at = 0; (at = text.find("memref<?x", at)) != std::string::npos;
       ++at)
    if (size_t f32 = text.find("xf32>", at); f32 < text.find('>', at))
      text.replace(f32, 4, "xbf16");
  return text;
}

// Attention's text, of an int8 model.
inline std::string withByteScores(std::string text) {
  const std::string before = "causal true";
  return text.replace(text.find(before), before.size(),
                      before + " byte_scores");
}

} // namespace mille::test
