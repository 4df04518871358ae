// Matmul of a weight in blocks: of each block the integers are multiplied and
// added exactly, scaled, and one multiply-add in f32 adds them to the sum.
// Must add blocks in the order of K.
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/instructions/PickInstruction.h"
#include "compiler/halide/matmul/MatmulPipe.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/Unswitch.h"
#include "dialects/transformer/UnevenLevels.h"

using namespace Halide;

namespace mille {
namespace {

constexpr int block = int(inputBlock), group = 4, groups = block / group;
constexpr int halves = groups / 2; // groups of K whose nibbles share no byte

Expr bitsOf8(int number) { return cast<uint8_t>(number); }

// The values of uneven levels, as unsigned bytes.
SixteenBytes bytesOf(UnevenLevels uneven, int offset) {
  SixteenBytes bytes;
  for (int level = 0; level < 16; ++level)
    bytes[level] = uint8_t(uneven.values[level] + offset);
  return bytes;
}

// Between f32 near countsFrom and integers (BlockForm.h).
Expr bitsOfCount(const Expr &x) { return reinterpret<int32_t>(x); }
Expr countOf(const Expr &x) { return added(x, -countsFrom); }

// Levels below 8 bits are multiplied by this, as unsigned bytes. It is taken
// from the sum of all blocks, which changes no bit of a sum below 2^120.
int factorOf(const BlockForm &form) {
  return unevenLevelsOf(form) ? 1 : form.factor();
}

// Whether two products of levels and bytes fit in 16 bits as they are added.
bool arePairsShort(const BlockForm &form) {
  return !unevenLevelsOf(form) && form.bits <= 6;
}

// How many groups' sums of two products fit in 16 bits: a power of two.
int groupsInShort(const BlockForm &form) {
  const int largest = 2 * ((1 << form.bits) - 1) * 127;
  int fitting = 1;
  while (2 * fitting * largest <= INT16_MAX)
    fitting *= 2;
  return fitting;
}

// The same byte, of which Halide does not know that it is small: it would
// multiply it as a signed byte, for which there is no instruction.
Expr anyByte(const Expr &byte) {
  using Halide::Internal::Call;
  return Call::make(UInt(8), Call::return_second, {bitsOf8(0), byte},
                    Call::PureIntrinsic);
}

// The order in which a block's groups are added: one after the other the two
// whose nibbles share a line, so that a line is read once and lines in order.
Expr groupOf(const BlockForm &form, const Expr &turn) {
  if (form.bits == 8 || form.parts > 1)
    return turn;
  return turn / 2 + turn % 2 * halves;
}

} // namespace

// A panel is one stream, which is read byte after byte: in a block lines of the
// accumulators take turns. (With one accumulator's after the other's a matmul
// of two had half the speed on Zen 4.)
void MatmulPipe::declareBlocks() {
  const int bytes = int(s.blocks.bytes(accumulators));
  const int units = K / int(s.blocks.numbers());
  weight = ImageParam(UInt(8), 3, names("weight"));
  weight.dim(0).set_bounds(0, bytes);
  weight.dim(1).set_bounds(0, units).set_stride(bytes);
  weight.dim(2).set_bounds(0, panels).set_stride(bytes * units);
  parameters = bufferOf(s.parameters, names("parameters"));
  pipe.arguments = {input, weight, parameters};
}

// A byte of block b: `at` of the first of those that share steps.
Expr MatmulPipe::byteAt(const Expr &b, const Expr &at) const {
  const int blocks = s.blocks.blocks;
  if (blocks == 1)
    return weight(at, b, panelNumber());
  return weight(at + b % blocks * int(s.blocks.blockBytes(accumulators)),
                b / blocks, panelNumber());
}

// The f16 at `place` of each row, or the power of two, in f32: what blocks
// share, or a block's own.
Expr MatmulPipe::stepAt(const Expr &b, int64_t place) const {
  Expr first = int(place) + a * int(BlockForm::rows) * 2 + ni * 2;
  Expr unit = b / s.blocks.blocks;
  Expr bits = concat_bits({weight(first, unit, panelNumber()),
                           weight(first + 1, unit, panelNumber())});
  if (unevenLevelsOf(s.blocks).hasPowers)
    return reinterpret<float>(cast<uint32_t>(bits) << 16u);
  return cast<float>(reinterpret(Float(16), bits));
}

// A level of group `y`, byte `x` of its line, as it is multiplied: `offset`
// above what it stands for, and `factor` times as large. Halide would see that
// a nibble fits a signed byte and then multiply signed bytes, for which there
// is no instruction; 16 times a nibble does not fit.
Expr MatmulPipe::levelAt(const Expr &b, const Expr &x, const Expr &y) const {
  const int line = int(BlockForm::line), width = s.blocks.bits;
  auto lineOf = [&](const Expr &number) {
    return byteAt(b, int(s.blocks.levelAt(accumulators, 0, 0, 0)) +
                         (number * accumulators + a) * line + x);
  };
  if (width == 8)
    return lineOf(y);
  Expr byte = lineOf(y % halves);
  if (UnevenLevels uneven = unevenLevelsOf(s.blocks))
    return pickOf(bytesOf(uneven, s.blocks.offset),
                  select(y < halves, byte & bitsOf8(15), byte >> bitsOf8(4)));
  if (width == 4)
    return select(y < halves, byte << bitsOf8(4), byte & bitsOf8(0xf0));
  const int shift = 8 - width; // the nibble ends below the upper bits
  Expr nibble =
      select(y < halves, byte << bitsOf8(shift), byte >> bitsOf8(4 - shift)) &
      bitsOf8(15 << shift);
  Expr upper = width == 5 ? lineOf(halves) << cast<uint8_t>(groups - 1 - y)
                          : lineOf(halves + y / halves)
                                << cast<uint8_t>(2 * (halves - 1 - y % halves));
  return nibble | (upper & bitsOf8(width == 5 ? 0x80 : 0xc0));
}

// A level as levelAt has it, from `levels` where these are kept.
Expr MatmulPipe::levelOf(const Expr &x, const Expr &y) const {
  return keepsLevels ? Expr(levels(x, a, y, b, no)) : levelAt(b, x, y);
}

// The scale of a part of block b.
Expr MatmulPipe::scaleAt(const Expr &b, int part) const {
  const BlockForm &form = s.blocks;
  Expr scale = stepAt(b, form.stepAt(accumulators, 0));
  if (!form.sharesSteps())
    return scale;
  Expr steps = byteAt(b, int(form.scaleAt(accumulators, 0, part, 0)) +
                             a * int(BlockForm::rows) + ni);
  return multiplied(scale, cast<float>(reinterpret<int8_t>(steps)));
}

// What is subtracted for each 1 of the input's sum, over levelOffset, as often
// as levels are too large.
Expr MatmulPipe::leastAt(const Expr &b) const {
  const BlockForm &form = s.blocks;
  Expr least = multiplied(stepAt(b, form.leastStepAt(accumulators, 0)),
                          float(factorOf(form)) / levelOffset);
  if (!form.sharesSteps())
    return least;
  Expr steps = byteAt(b, int(form.leastAt(accumulators, 0, 0)) +
                             a * int(BlockForm::rows) + ni);
  return multiplied(least, cast<float>(steps));
}

// The integer from which a part's products are added up, of the row at `start`:
// the bits of countsFrom, less what the levels' offset adds to the products.
Expr MatmulPipe::startAt(const Expr &b, const Expr &part,
                         const Expr &start) const {
  const int offset = s.blocks.offset * factorOf(s.blocks);
  const Expr from = bitsOfCount(countsFrom);
  if (!offset)
    return from + b * 0; // an update must name its RDom, which is in b
  auto sumAt = [&](int kind) { return bitsOfCount(ofInput(kind, b, start)); };
  Expr bits = sumAt(1);
  if (s.blocks.parts > 1)
    bits = select(part == 0, sumAt(2), bits - sumAt(2) + from);
  if (offset == levelOffset)
    return bits;
  return from + (bits - from) / levelOffset * offset;
}

// What a sum of blocks stands for: its levels were too large by a power of two.
Expr MatmulPipe::ofLevels(const Expr &sum) const {
  const int factor = factorOf(s.blocks);
  return factor > 1 ? multiplied(sum, 1.0f / factor) : sum;
}

// [value of a block, row, block], and what goes with it, [row, kind, block].
void MatmulPipe::layRowsBeside() {
  Var x(names("x")), kind(names("kind"));
  beside = make("beside");
  beside(x, m, b) = input(b * block + x, m);
  parametersBeside = make("beside_parameters");
  parametersBeside(m, kind, b) = parameters(kind * (K / block) + b, m);
  const auto rows = pipe.out.output_buffer().dim(1);
  for (Func f : {beside, parametersBeside})
    f.compute_root()
        .bound(m, rows.min(), rows.extent())
        .bound(b, 0, K / block)
        .store_in(MemoryType::Heap);
  beside.bound(x, 0, block).vectorize(x);
  parametersBeside.bound(kind, 0, int(inputParameters)).unroll(kind);
}

// A value of the input, and what its block has: a step, or a sum (BlockForm.h).
Expr MatmulPipe::inputAt(const Expr &b, const Expr &x, const Expr &row) const {
  return rowsBeside ? beside(x, row, b) : input(b * block + x, row);
}
Expr MatmulPipe::ofInput(int kind, const Expr &b, const Expr &row) const {
  return rowsBeside ? parametersBeside(row, kind, b)
                    : parameters(kind * (K / block) + b, row);
}

void MatmulPipe::multiplyBlocks() {
  const BlockForm &form = s.blocks;
  if (rowsBeside)
    layRowsBeside();
  Expr start = rowRead(), row = rowAt(i, t);
  Expr there = inTiles         ? start
               : hasShortTiles ? select(lastIsWhole, row, start)
                               : row;
  blocks = RDom(0, K / block, names("blocks"));
  if (!inTiles)
    blocks.where(inTileOfAll(i, t));
  if (keepsLevels) {
    levels = make("levels");
    levels(byte, a, groupOfBlock, b, no) = levelAt(b, byte, groupOfBlock);
  }
  dot = make("dot");
  inTiles ? sumBlocksInTiles(there) : sumBlocksInVectors(start, there);
  product(inTile) = 0.0f;
  const Expr step = ofInput(0, blocks.x, there);
  auto integersOf = [&](int part) {
    std::vector<Expr> ofBlock(inTile.begin(), inTile.end());
    ofBlock.insert(ofBlock.end(), {part, blocks.x});
    Expr bits = dot(ofBlock);
    if (inTiles) // whose sums begin at 0
      bits += startAt(blocks.x, part, start);
    return countOf(reinterpret<float>(bits));
  };
  Expr integers = integersOf(0), scale = scaleAt(blocks.x, 0);
  if (form.scales() == 1) {
    product(inTile) += integers * multiplied(scale, step);
    return;
  }
  // Two sums, which are not left to be added in any order.
  Expr others = form.hasLeast ? multiplied(countOf(ofInput(1, blocks.x, there)),
                                           leastAt(blocks.x))
                              : multiplied(integersOf(1), scaleAt(blocks.x, 1));
  product(inTile) += added(multiplied(integers, scale), others) * step;
}

// The place of a block's sum: in a tile, of a part, of a block.
std::vector<Var> MatmulPipe::inBlock() const {
  std::vector<Var> place = inTile;
  place.insert(place.end(), {share, b});
  return place;
}

// A row that is not summed costs nothing: not even the start of its sum.
void MatmulPipe::sumBlocksInVectors(const Expr &start, const Expr &there) {
  RDom once(0, 1, names("once"));
  once.where(inTileOfAll(i, t));
  dot(inBlock()) = undef<int32_t>();
  dot(inBlock()) = startAt(b + once.x, share, start);
  if (!oneInstruction)
    return sumPairs(there);
  const BlockForm &form = s.blocks;
  k = RDom(0, group, 0, groups / form.parts, names("k"));
  k.where(inTileOfAll(i, t));
  Expr turn = keepsLevels ? Expr(k.y) : groupOf(form, k.y);
  Expr inPart = share * (groups / form.parts) + turn;
  dot(inBlock()) += cast<int32_t>(levelOf(ni * group + k.x, inPart)) *
                    cast<int32_t>(inputAt(b, inPart * group + k.x, there));
}

// Where no instruction adds four products, one adds two: a group's sum stands
// in two halves, and only a block's halves are added. Levels of up to 6 bits
// are multiplied as bytes, and so many sums are added in 16 bits as cannot
// overflow; others are widened to 16 bits first, and their sums have 32. Where
// there are few registers, levels of 4 bits and of 8 are taken in a loop: LLVM
// would take unrolled groups in another order and keep them in memory. A prompt
// of 128 tokens takes 0.4 of the time in q4_0 that sums of four products by
// these instructions took, 0.66 in q8_0, a token 0.5 and 0.95 (x86-64-v3 on a
// Zen 4).
void MatmulPipe::sumPairs(const Expr &there) {
  const BlockForm &form = s.blocks;
  const bool asBytes = arePairsShort(form);
  const int inPart = groups / form.parts;
  together = asBytes ? std::min(groupsInShort(form), inPart) : inPart;
  const int looped =
      hasRowClasses || form.bits % 4 ? 1 : std::min(halves, together);
  k = RDom(0, group / 2, 0, together / looped, 0, looped, names("k"));
  k.where(inTileOfAll(i, t));
  std::vector<Var> inPair{half};
  inPair.insert(inPair.end(), inTile.begin(), inTile.end());
  inPair.insert(inPair.end(), {share, b, piece});
  Expr number = share * inPart + piece * together + k.y * looped + k.z,
       place = half * (group / 2) + k.x;
  Expr level = levelOf(ni * group + place, number),
       value = inputAt(b, number * group + place, there);
  pairs = make("pairs");
  if (asBytes) {
    pairs(inPair) = cast<int16_t>(0);
    pairs(inPair) = saturating_add(
        pairs(inPair), cast<int16_t>(anyByte(level >> bitsOf8(8 - form.bits))) *
                           cast<int16_t>(value));
  } else {
    pairs(inPair) = 0;
    pairs(inPair) += cast<int32_t>(level) * cast<int32_t>(value);
  }
  halvesOf = RDom(0, 2, 0, inPart / together, names("halves"));
  halvesOf.where(inTileOfAll(i, t));
  std::vector<Expr> of{halvesOf.x};
  of.insert(of.end(), inTile.begin(), inTile.end());
  of.insert(of.end(), {share, b, halvesOf.y});
  dot(inBlock()) += cast<int32_t>(pairs(of)) * (asBytes ? factorOf(form) : 1);
}

// All products of a block are unrolled: 8 instructions for each row. Of few
// rows a CPU that does not look far ahead waits for blocks, though they are one
// stream: a Cascade Lake takes 0.95 (q8_0) and 0.86 (q4_0) of the time for one
// row with prefetches, 0.90 and 0.76 for four. One that looks far ahead waits
// for those of several rows alone (Zen 5): a Zen 4 takes a fifth longer for one
// row with them, and 1.03 of the time for four.
void MatmulPipe::scheduleBlocks() {
  scheduleTile(product, {pipe.out, tileRows.y}, tile.rows);
  product.unroll(i).store_in(MemoryType::Register);
  product.update(0)
      .reorder(ni, a, i, no, blocks.x)
      .vectorize(ni, V)
      .unroll(ni)
      .unroll(a)
      .unroll(i);
  scheduleTile(dot, {product, blocks.x}, tile.rows);
  dot.bound_extent(b, 1)
      .bound(share, 0, s.blocks.parts)
      .unroll(share)
      .unroll(i)
      .store_in(MemoryType::Register);
  dot.update(0)
      .reorder(ni, share, a, i)
      .vectorize(ni, V)
      .unroll(ni)
      .unroll(share)
      .unroll(a)
      .unroll(i);
  Var nl(names("nl"));
  const RDom &summed = oneInstruction ? k : halvesOf;
  dot.update(1)
      .split(ni, ni, nl, V)
      .reorder(summed.x, nl, ni, a, i, no, summed.y, share)
      .atomic()
      .vectorize(summed.x)
      .vectorize(nl)
      .unroll(ni)
      .unroll(a)
      .unroll(i)
      .unroll(summed.y)
      .unroll(share);
  if (!oneInstruction)
    schedulePairs();
  scheduleLevels();
  prefetchBlocks();
  pipe.passes.push_back(unswitchUpdate(product.name()));
}

void MatmulPipe::scheduleLevels() {
  if (keepsLevels)
    levels.compute_at(pipe.out, no)
        .bound_extent(no, 1)
        .bound(b, 0, K / block)
        .bound(groupOfBlock, 0, groups)
        .bound(a, 0, accumulators)
        .bound(byte, 0, int(BlockForm::line))
        .store_in(MemoryType::Heap)
        .vectorize(byte, V * group)
        .unroll(byte)
        .unroll(a)
        .unroll(groupOfBlock);
}

// Sums in 16 bits are not associative for Halide, which does not know that they
// fit.
void MatmulPipe::schedulePairs() {
  Var nl(names("nl"));
  scheduleTile(pairs, {product, blocks.x}, tile.rows);
  pairs.bound_extent(b, 1)
      .bound(share, 0, s.blocks.parts)
      .bound(half, 0, 2)
      .bound(piece, 0, groups / s.blocks.parts / together)
      .reorder(half, ni, a, i, share, piece)
      .vectorize(half)
      .unroll(share)
      .unroll(piece)
      .unroll(i)
      .store_in(MemoryType::Register);
  pairs.update()
      .split(ni, ni, nl, V)
      .reorder(k.x, half, nl, ni, a, i, no, k.y, k.z, piece, share)
      .atomic(/*override_associativity_test=*/true)
      .vectorize(k.x)
      .vectorize(half)
      .vectorize(nl)
      .unroll(ni)
      .unroll(a)
      .unroll(i)
      .unroll(k.y)
      .unroll(piece)
      .unroll(share);
}

// Of many rows the tiles after a panel's first find it in L2, and memory stops
// to read ahead. So they prefetch the next panel: without that a Zen 4 waits
// for panels a tenth of the time at 128 rows.
void MatmulPipe::prefetchBlocks() {
  const int bytes = int(s.blocks.bytes(accumulators));
  if (fewRows && prefetchesStreams)
    pipe.passes.push_back(prefetchRows(
        {weight.name(), product.name(), 1,
         std::max(bytesAhead * s.blocks.blocks / bytes, 1), looksFar}));
  if (fewRows || !hasRowClasses)
    return;
  const int panelBytes = bytes * (K / int(s.blocks.numbers()));
  constexpr int linesOfBlock = 2; // some 24 rows ask for all of a panel
  pipe.passes.push_back(
      prefetchPanels({weight.name(), product.name(), no.name(),
                      tileRows.y.name(), 1, panelBytes, panelBytes, K / block,
                      0, 1, linesOfBlock, false, prefetchesIntoL2, 1}));
  prefetchExtras();
}

} // namespace mille
