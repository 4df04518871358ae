// Chan's formula. Must not depend on who holds a chunk.
#include "compiler/nvvm/ChunkNorm.h"

namespace mille::nvvm {

Reg ChunkNorm::overLanes(Reg x) {
  x = x + b.shuffleXor(x, 1);
  return x + b.shuffleXor(x, 2);
}

Regs ChunkNorm::take(const Regs &eight) {
  Reg sum = eight[0], squares = b.real(0);
  if (isCentred()) {
    for (unsigned i = 1; i < 8; ++i)
      sum = sum + eight[i];
    sum = overLanes(sum);
  }
  for (Reg x : eight) {
    Reg far = isCentred() ? b.fma(sum, -1.0 / chunk, x) : x;
    squares = b.fma(far, far, squares);
  }
  return {sum, overLanes(squares)};
}

ChunkNorm::Factors
ChunkNorm::combine(unsigned chunks, Reg lane,
                   llvm::function_ref<Reg(Reg number)> place) {
  const double share = 1.0 / double(norm.group);
  Regs sums, squares, exist;
  for (unsigned first = 0; first < chunks; first += 4) {
    Reg number = lane + int(first), inside;
    if (first + 4 > chunks) {
      inside = lt(number, int(chunks));
      number = b.select(inside, number, b.constant(0));
    }
    Regs two = b.elements(b.load(place(number), b.vectorOf(2, b.f32()), 8));
    sums.push_back(two[0]);
    squares.push_back(two[1]);
    exist.push_back(inside);
  }
  auto total = [&](auto termOf) {
    Reg all = b.real(0);
    for (unsigned i = 0; i < sums.size(); ++i) {
      Reg term = termOf(i);
      all = all + (exist[i] ? b.select(exist[i], term, b.real(0)) : term);
    }
    return overLanes(all);
  };
  Reg mean = b.real(0);
  if (isCentred())
    mean = total([&](unsigned i) { return sums[i]; }) * share;
  Reg all = total([&](unsigned i) {
    if (!isCentred())
      return squares[i];
    Reg far = b.fma(sums[i], 1.0 / chunk, b.negative(mean));
    return b.fma(far * double(chunk), far, squares[i]);
  });
  return {mean, norm.norm == RowStatistic::l2
                    ? b.reciprocal(b.maximum(b.sqrt(all), norm.eps))
                    : b.rsqrt(b.fma(all, share, norm.eps))};
}

} // namespace mille::nvvm
