// Rounds by integer arithmetic, because Halide's own cast to bf16 is a longer
// emulation. Must have the form that RoundingInstruction.cpp finds, and the
// bits of that instruction.
#include "compiler/halide/Elements.h"

using namespace Halide;

namespace mille {

Type typeOf(Element element) {
  switch (element) {
  case Element::f32:
    return Float(32);
  case Element::bf16:
    return BFloat(16);
  case Element::bf16Bits:
    return UInt(16);
  case Element::u8:
    return UInt(8);
  case Element::i8:
    return Int(8);
  case Element::i32:
    return Int(32);
  case Element::f16:
    return Float(16);
  case Element::e4m3: // kernels for Hopper alone
    break;
  }
  return {};
}

Expr widened(const Expr &x) {
  if (x.type() == UInt(16))
    return reinterpret<float>(cast<uint32_t>(x) << 16);
  return x.type().is_float() ? cast<float>(x) : x;
}

Expr rounded(const Expr &x, Element element) {
  if (element == Element::f32)
    return x;
  // Adding 7fff rounds up above one half; adding 8000 rounds up one half too.
  Expr bits = reinterpret<uint32_t>(x), isOdd = (bits & 0x10000) != 0;
  Expr up = select(isOdd, bits + 0x8000, bits + 0x7fff);
  Expr nan = (bits & 0x7fffffff) > 0x7f800000;
  Expr kept = select(nan, bits | 0x400000, up);
  Expr half = cast<uint16_t>(kept >> 16);
  return element == Element::bf16 ? reinterpret<bfloat16_t>(half) : half;
}

Expr partOf(const Expr &word, const Expr &part, Element element) {
  if (isBf16(element))
    return reinterpret<float>(
        select(part == 0, word << 16, word & Expr(uint32_t(0xffff0000))));
  return reinterpret<int32_t>(word << cast<uint32_t>(24 - 8 * part)) >> 24;
}

KernelSpec withoutBf16(KernelSpec spec) {
  auto asBits = [](BufferSpec &buffer) {
    if (buffer.element == Element::bf16)
      buffer.element = Element::bf16Bits;
  };
  for (BufferSpec *buffer :
       {&spec.out, &spec.matmul.input, &spec.quantize.input, &spec.rotate.input,
        &spec.attention.query, &spec.attention.key, &spec.attention.value,
        &spec.weightGradient.gradient, &spec.weightGradient.input,
        &spec.attentionBackward.forward.query,
        &spec.attentionBackward.forward.key,
        &spec.attentionBackward.forward.value,
        &spec.attentionBackward.gradient})
    asBits(*buffer);
  for (std::vector<BufferSpec> *buffers :
       {&spec.matmul.extras, &spec.rows.inputs, &spec.columnSums.inputs})
    for (BufferSpec &buffer : *buffers)
      asBits(buffer);
  return spec;
}

} // namespace mille
