// The layout of accumulators and of swizzled panels. Must not compute.
#include "compiler/nvvm/Fragments.h"

namespace mille::nvvm {

Fragments::Fragments(Builder &builder, Reg thread) : b(builder) {
  Reg lane = thread % 32, warp = thread / 32;
  row = warp * 16 + lane / 4;
  column = (lane % 4) * 2;
  matrixLine = warp * int(16 * lineBytes) + (lane & 15) * int(lineBytes);
  matrixXor = (lane & 7) << 4;
  matrixPart = (lane >> 4) * 16;
}

Reg Fragments::matrixAddress(Reg panel, unsigned q) {
  return b.at(panel, matrixLine + ((matrixPart + 32 * q) ^ matrixXor));
}

Reg Fragments::pairAddress(Reg panel, unsigned j, unsigned h) {
  // Of f32 two lanes share 16 bytes, and 8 columns are two parts of a line.
  Reg line = row + 8 * h;
  Reg part = column / 4 + 2 * j;
  Reg swizzled = (part ^ (line & 7)) * 16 + (column & 2) * 4;
  return b.at(panel, line * int(lineBytes) + swizzled);
}

Reg descriptor(Reg address, unsigned panelBytes) {
  Builder &b = address.builder();
  const int64_t swizzled = int64_t(1) << 62, eightRows = int64_t(64) << 32;
  return b.widen((address & 0x3ffff) >> 4) |
         (swizzled | eightRows | int64_t(panelBytes >> 4) << 16);
}

Operand descriptorStep(unsigned bytes) { return Operand(int64_t(bytes >> 4)); }

} // namespace mille::nvvm
