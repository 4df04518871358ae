// An f16 as an integer of 16 bits, which devices without the type read: every
// f16 as an f32, and f32 to the nearest f16, beside what C++ makes of them.
//
// RUN: %programs/kernel-halves | FileCheck %s
// CHECK: 65536 widened, 0 wrong
// CHECK: {{[0-9]+}} rounded, 0 wrong
#include "compiler/halide/Elements.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstdio>
#include <vector>

using namespace mille;

namespace {

template <typename To, typename From>
std::vector<To> converted(std::vector<From> from, Halide::Type type,
                          Halide::Expr (*convert)(const Halide::Expr &)) {
  Halide::Buffer<void> in(type, from.data(), {int(from.size())});
  Halide::ImageParam numbers(type, 1);
  numbers.set(in);
  Halide::Var i;
  Halide::Func out;
  out(i) = convert(numbers(i));
  Halide::Buffer<To> result = out.realize({int(from.size())});
  return {result.begin(), result.end()};
}

// Floats around one: itself, the half to the next f16, and their neighbours.
void addAround(float x, float next, std::vector<float> &to) {
  for (float at : {x, (x + next) / 2})
    for (float far : {-INFINITY, at, INFINITY})
      to.push_back(far == at ? at : std::nextafter(at, far));
}

} // namespace

int main() {
  std::vector<int16_t> halves;
  std::vector<float> reals = {
      NAN,      -NAN,     INFINITY, -INFINITY,  65519,    65520,
      -65520,   65536,    3e38f,    1e-45f,     0x1p-25f, -0.0f,
      0x1p-24f, 0x1p-14f, -1e-39f,  0x1.8p-25f, 0x1p-26f, 1e5f};
  for (int bits = 0; bits < 65536; ++bits) {
    halves.push_back(int16_t(bits));
    const float x = llvm::bit_cast<_Float16>(uint16_t(bits)),
                next = llvm::bit_cast<_Float16>(uint16_t(bits + 1));
    if (std::isfinite(x) && std::isfinite(next))
      addAround(x, next, reals);
  }
  for (uint32_t bits = 0; bits < 0xffff0000; bits += 9973)
    reals.push_back(llvm::bit_cast<float>(bits));

  const auto widenedHalves =
      converted<float>(halves, Halide::Int(16),
                       [](const Halide::Expr &x) { return widened(x); });
  int wrong = 0;
  for (size_t i = 0; i < halves.size(); ++i) {
    const float must = llvm::bit_cast<_Float16>(halves[i]);
    const float is = widenedHalves[i];
    wrong += std::isnan(must) ? !std::isnan(is)
                              : llvm::bit_cast<uint32_t>(is) !=
                                    llvm::bit_cast<uint32_t>(must);
  }
  printf("%zu widened, %d wrong\n", halves.size(), wrong);

  const auto rounded16 =
      converted<int16_t>(reals, Halide::Float(32), [](const Halide::Expr &x) {
        return rounded(x, Element::f16Bits);
      });
  wrong = 0;
  for (size_t i = 0; i < reals.size(); ++i) {
    const _Float16 must = _Float16(reals[i]),
                   is = llvm::bit_cast<_Float16>(rounded16[i]);
    wrong += std::isnan(float(must))
                 ? !std::isnan(float(is))
                 : llvm::bit_cast<int16_t>(must) != rounded16[i];
  }
  printf("%zu rounded, %d wrong\n", reals.size(), wrong);
  return 0;
}
