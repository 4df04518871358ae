// The rounding of f32 to parts. Must not add.
#include "compiler/nvvm/Parts.h"

namespace mille::nvvm {

std::vector<Regs> partsOf(Builder &b, const Regs &values) {
  std::vector<Regs> words(parts);
  for (unsigned i = 0; i < values.size(); i += 2) {
    Reg low = values[i], high = values[i + 1];
    for (Regs &part : words) {
      Reg word = b.packBf16(low, high);
      part.push_back(word);
      Regs rounded = b.unpackBf16(word);
      low = low - rounded[0];
      high = high - rounded[1];
    }
  }
  return words;
}

} // namespace mille::nvvm
