// Numbers of operands and their bytes. Must not compute what the kernel does.
#include "compiler/driver/emulate/Operands.h"

#include "dialects/transformer/E4m3.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstring>

using namespace mille;
using namespace mille::emulated;

// To nearest even.
static uint32_t bitsOf(double number, Element element) {
  if (element == Element::e4m3)
    return narrowE4m3(number);
  if (element == Element::f16)
    return llvm::bit_cast<uint16_t>(_Float16(number));
  if (element == Element::f32 || isBf16(element)) {
    float real = float(number);
    uint32_t bits;
    std::memcpy(&bits, &real, 4);
    return isBf16(element) ? (bits + 0x7fff + (bits >> 16 & 1)) >> 16 : bits;
  }
  return uint32_t(int32_t(number));
}

static double numberOf(uint32_t bits, Element element) {
  switch (element) {
  case Element::bf16:
  case Element::bf16Bits:
    bits <<= 16;
    [[fallthrough]];
  case Element::f32: {
    float real;
    std::memcpy(&real, &bits, 4);
    return real;
  }
  case Element::u8:
    return uint8_t(bits);
  case Element::i8:
    return int8_t(bits);
  case Element::i32:
    return int32_t(bits);
  case Element::e4m3:
    return widenE4m3(uint8_t(bits));
  case Element::f16:
    return llvm::bit_cast<_Float16>(uint16_t(bits));
  }
  return NAN;
}

double mille::emulated::roundedTo(double number, Element element) {
  return numberOf(bitsOf(number, element), element);
}

emulate::Buffer Operand::bytes(bool written) const {
  const int64_t size = bytesOf(spec.element);
  const int64_t stride = spec.rowStride ? spec.rowStride : spec.columns;
  emulate::Buffer buffer;
  buffer.name = name;
  buffer.elementBytes = int(size);
  buffer.written = written;
  buffer.weights = weights;
  buffer.bytes.assign(rows * stride * size, char(0xff));
  for (int64_t row = 0; row < rows && written; ++row)
    for (int64_t column = 0; column < spec.columns; ++column) {
      uint32_t bits = bitsOf(at(row, column), spec.element);
      std::memcpy(&buffer.bytes[(row * stride + column) * size], &bits, size);
    }
  return buffer;
}

void Operand::read(const emulate::Buffer &buffer) {
  const int64_t size = bytesOf(spec.element);
  const int64_t stride = spec.rowStride ? spec.rowStride : spec.columns;
  numbers.resize(rows * spec.columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < spec.columns; ++column) {
      uint32_t bits = 0;
      std::memcpy(&bits, &buffer.bytes[(row * stride + column) * size], size);
      numbers[row * spec.columns + column] = numberOf(bits, spec.element);
    }
}

static double byteParameter(int64_t which, int64_t inner,
                            std::mt19937 &random) {
  switch (which) {
  case 0:
    return std::ldexp(1 + random() % 7, -18);
  case 1:
    return double(random() % 256);
  case 2:
    return (int(random() % 33) - 16) / 64.0;
  default:
    return double(random() % inner);
  }
}

void mille::emulated::draw(Operand &operand, Drawn what, int64_t entries,
                           std::mt19937 &random) {
  const int64_t columns = operand.spec.columns;
  operand.numbers.resize(operand.rows * columns);
  for (int64_t i = 0; i < int64_t(operand.numbers.size()); ++i) {
    double &number = operand.numbers[i];
    switch (what) {
    case Drawn::numbers:
      number = (int(random() % 33) - 16) / 8.0;
      break;
    case Drawn::weights:
      number = (int(random() % 29) - 14) / 64.0;
      break;
    case Drawn::reals:
      number = float(std::ldexp(int32_t(random()), -30));
      break;
    case Drawn::realWeights:
      number = float(std::ldexp(int32_t(random()), -33));
      break;
    case Drawn::flags:
      number = random() % 5 != 0;
      break;
    case Drawn::indices:
      number = double(random() % entries);
      break;
    case Drawn::angles: // cosines, then sines, of one angle
      number = i % columns < columns / 2
                   ? std::cos(0.3 * double(i / columns * 7 + i % columns))
                   : std::sin(0.3 * double(i / columns * 7 + i % columns -
                                           columns / 2));
      number = roundedTo(number, operand.spec.element);
      break;
    case Drawn::segments:
      number = double(i / 17);
      break;
    case Drawn::bytes:
      number = double(random() % 256);
      break;
    case Drawn::signedBytes:
      number = double(random() % 255) - 127;
      break;
    case Drawn::byteParameters:
      number = byteParameter(i % columns, entries, random);
      break;
    }
  }
}
