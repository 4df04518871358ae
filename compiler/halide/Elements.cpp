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
  case Element::f16Bits: // with a sign, to tell it from bf16Bits
    return Int(16);
  case Element::e4m3: // kernels for Hopper alone
    break;
  }
  return {};
}

// The f32 of an f16's bits, by integers. A denormal is an integer of 24 bits at
// most, which f32 holds.
static Expr widenedF16(const Expr &half) {
  Expr sign = (half & 0x8000) << 16, size = half & 0x7fff;
  Expr exponent = size >> 10, moved = size << 13;
  const Expr rebias(uint32_t(127 - 15) << 23);
  Expr small = cast<float>(cast<int32_t>(size)) * 0x1p-24f;
  Expr bits =
      select(exponent == 0, reinterpret<uint32_t>(small), exponent == 31,
             moved | Expr(uint32_t(0x7f800000)), moved + rebias);
  return reinterpret<float>(bits | sign);
}

// And back, to nearest, ties to even. What is below 2^-14 has steps of 2^-24,
// which are those of a float between 0.5 and 1: its sum with 0.5 rounds. It is
// not `strict`, which all of x would be then, and OpenCL lacks such functions;
// behind the reinterpretation nothing is reassociated.
static Expr f16BitsOf(const Expr &x) {
  Expr bits = reinterpret<uint32_t>(x), size = bits & 0x7fffffff;
  Expr sign = (bits >> 16) & 0x8000;
  Expr isOdd = (size >> 13) & 1;
  const Expr rebias(uint32_t(127 - 15) << 23);
  Expr usual = (size - rebias + 0xfff + isOdd) >> 13;
  Expr shifted = reinterpret<float>(size) + 0.5f;
  Expr small = reinterpret<uint32_t>(shifted) - Expr(uint32_t(0x3f000000));
  Expr half =
      select(size > 0x7f800000, Expr(uint32_t(0x7e00)), size >= 0x477ff000,
             Expr(uint32_t(0x7c00)), size < 0x38800000, small, usual);
  return reinterpret<int16_t>(cast<uint16_t>(half | sign));
}

Expr widened(const Expr &x) {
  if (x.type() == UInt(16))
    return reinterpret<float>(cast<uint32_t>(x) << 16);
  if (x.type() == Int(16))
    return widenedF16(cast<uint32_t>(reinterpret<uint16_t>(x)));
  return x.type().is_float() ? cast<float>(x) : x;
}

Expr rounded(const Expr &x, Element element) {
  if (element == Element::f32)
    return x;
  if (element == Element::f16)
    return cast<float16_t>(x);
  if (element == Element::f16Bits)
    return f16BitsOf(x);
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
  if (isF16(element)) {
    Expr half = cast<uint16_t>(select(part == 0, word, word >> 16));
    return widened(reinterpret(typeOf(element), half));
  }
  return reinterpret<int32_t>(word << cast<uint32_t>(24 - 8 * part)) >> 24;
}

KernelSpec with(Element bits, Element element, KernelSpec spec) {
  auto asBits = [&](BufferSpec &buffer) {
    if (buffer.element == element)
      buffer.element = bits;
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
