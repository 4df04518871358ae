// Products of blocks in tile registers: the sums of some blocks at a time go to
// L1, where vectors scale them and add them up, while the tile registers take
// the next blocks.
#include "compiler/halide/matmul/MatmulPipe.h"
#include "compiler/halide/passes/BlockTiles.h"

using namespace Halide;

namespace mille {
namespace {

constexpr int block = int(inputBlock), group = 4, groups = block / group;

} // namespace

void MatmulPipe::sumBlocksInTiles(const Expr &there) {
  const int inEach = groups / s.blocks.parts;
  k = RDom(0, group, 0, inEach, names("k"));
  Expr inPart = share * inEach + k.y;
  dot(inBlock()) = 0;
  dot(inBlock()) += cast<int32_t>(levelOf(ni * group + k.x, inPart)) *
                    cast<int32_t>(inputAt(b, inPart * group + k.x, there));
}

// So many that their sums take 8 KB of L1, and all blocks are whole shares.
int MatmulPipe::blocksAtOnce() const {
  const int most = 8 / s.blocks.parts, all = K / block;
  int blocks = std::min(most, all);
  while (all % blocks)
    --blocks;
  return blocks;
}

// The loops of dot are placeholders: a pass replaces them by AMX instructions.
void MatmulPipe::scheduleBlockTiles() {
  const int atOnce = blocksAtOnce(), parts = s.blocks.parts,
            line = accumulators * int(BlockForm::line);
  scheduleTile(product, {pipe.out, tileRows.y}, tile.rows);
  product.unroll(i).store_in(MemoryType::Register);
  product.update(0)
      .split(blocks.x, someBlocks, ofSome, atOnce)
      .reorder(ni, a, i, no, ofSome, someBlocks)
      .vectorize(ni, V)
      .unroll(ni)
      .unroll(a)
      .unroll(i);
  placeTile(dot, {product, someBlocks}, tile.rows);
  dot.bound_extent(b, atOnce)
      .bound(share, 0, parts)
      .store_in(MemoryType::Stack);
  scheduleLevels();
  pipe.passes.push_back(sumBlocksInTileRegisters(
      {input.name(), keepsLevels ? levels.name() : weight.name(), dot.name(),
       i.name(), tile.rows, accumulators, atOnce, parts, block / parts,
       int(s.input.rowStride), line,
       keepsLevels ? groups * line : int(s.blocks.bytes(accumulators))}));
  prefetchExtras();
}

} // namespace mille
