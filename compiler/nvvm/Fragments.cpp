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
  Reg line = lane / 4;
  odd = eq(line & 1, 1);
  pairPart =
      (((lane & 3) >> 1) ^ line ^ ((line & 1) << 2)) * 16 + (lane & 1) * 8;
}

Reg Fragments::matrixAddress(Reg panel, unsigned q) {
  return b.at(panel, matrixLine + ((matrixPart + 32 * q) ^ matrixXor));
}

// Two lanes share a part, and the four lanes of a row two parts. An odd row
// flips the bit of a part by which the columns 8 * j and 8 * (j + 2) differ.
Reg Fragments::pairAddress(Reg panel, unsigned h, unsigned slot) {
  return b.at(panel, row * int(lineBytes) + (pairPart ^ (32 * slot)) +
                         8 * lineBytes * h);
}

void Fragments::storePairs(Reg panel, unsigned h, llvm::ArrayRef<Reg> eight) {
  for (unsigned slot = 0; slot < 4; ++slot) {
    Regs pair;
    for (unsigned e : {0, 1})
      pair.push_back(
          b.select(odd, eight[2 * (slot ^ 2) + e], eight[2 * slot + e]));
    b.store(b.vector(pair), pairAddress(panel, h, slot), 8);
  }
}

Regs Fragments::loadPairs(Reg panel, unsigned h) {
  Regs slots, eight;
  for (unsigned slot = 0; slot < 4; ++slot)
    for (Reg value : b.elements(
             b.load(pairAddress(panel, h, slot), b.vectorOf(2, b.f32()), 8)))
      slots.push_back(value);
  for (unsigned i = 0; i < 8; ++i)
    eight.push_back(b.select(odd, slots[i ^ 4], slots[i]));
  return eight;
}

Reg descriptor(Reg address, unsigned panelBytes) {
  Builder &b = address.builder();
  const int64_t swizzled = int64_t(1) << 62, eightRows = int64_t(64) << 32;
  return b.widen((address & 0x3ffff) >> 4) |
         (swizzled | eightRows | int64_t(panelBytes >> 4) << 16);
}

Operand descriptorStep(unsigned bytes) { return Operand(int64_t(bytes >> 4)); }

} // namespace mille::nvvm
