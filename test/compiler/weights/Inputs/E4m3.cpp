// All codes of e4m3 and the numbers between them, beside LLVM's APFloat.
#include "dialects/transformer/E4m3.h"
#include "llvm/ADT/APFloat.h"

#include <cstdio>

using namespace mille;

static int wrong = 0;

static void expect(uint8_t code, double number) {
  const uint8_t is = narrowE4m3(number);
  if (is == code)
    return;
  ++wrong;
  std::printf("%a becomes %02x but must be %02x\n", number, is, code);
}

static double known(uint8_t code) {
  llvm::APFloat number(llvm::APFloat::Float8E4M3FN(), llvm::APInt(8, code));
  return number.convertToDouble();
}

static uint8_t knownCode(double size) {
  llvm::APFloat number(size);
  bool inexact;
  number.convert(llvm::APFloat::Float8E4M3FN(),
                 llvm::APFloat::rmNearestTiesToEven, &inexact);
  return uint8_t(number.bitcastToAPInt().getZExtValue());
}

static void expectBothSigns(uint8_t code, double size) {
  expect(code, size);
  expect(code | 0x80, -size);
}

int main() {
  for (int code = 0; code < 256; ++code) {
    const double is = widenE4m3(code), must = known(code);
    const bool same = std::isnan(must) ? std::isnan(is)
                                       : llvm::bit_cast<uint64_t>(is) ==
                                             llvm::bit_cast<uint64_t>(must);
    if (!same) {
      ++wrong;
      std::printf("%02x is %g but must be %g\n", code, is, must);
    }
    if (!std::isnan(must))
      expect(code, must);
  }
  for (int code = 0; code < 0x7e; ++code) {
    const double middle = (known(code) + known(code + 1)) / 2;
    expectBothSigns(code + code % 2, middle); // ties to even
    expectBothSigns(code, std::nextafter(middle, 0));
    expectBothSigns(code + 1, std::nextafter(middle, 1000));
  }
  for (double size = 1e-4; size < mostE4m3; size *= 1.0001)
    expectBothSigns(knownCode(size), size);
  for (double size : {448.001, 464.0, 465.0, 1e300, HUGE_VAL})
    expectBothSigns(0x7e, size); // the largest
  expect(0x7f, NAN);
  std::printf("%d wrong\n", wrong);
}
