// Roundings by integer arithmetic: Halide's own cast to bf16 is a longer emulation.
// Must give the same bits on every instruction set.
#include "compiler/halide/Elements.h"

using namespace Halide;

namespace mille {

Type typeOf(Element element) {
  switch (element) {
  case Element::f32:
    return Float(32);
  case Element::bf16:
    return BFloat(16);
  case Element::u8:
    return UInt(8);
  case Element::i8:
    return Int(8);
  case Element::i32:
    return Int(32);
  }
  return {};
}

Expr widened(const Expr &x) {
  return x.type().is_float() ? cast<float>(x) : x;
}

Expr rounded(const Expr &x, Element element) {
  if (element == Element::f32)
    return x;
  Expr bits = reinterpret<uint32_t>(x);
  Expr up = bits + 0x7fff + ((bits >> 16) & 1);
  Expr nan = (bits & 0x7fffffff) > 0x7f800000;
  Expr kept = select(nan, bits | 0x400000, up);
  return reinterpret<bfloat16_t>(cast<uint16_t>(kept >> 16));
}

} // namespace mille
