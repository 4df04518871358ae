// Matmul of a weight in blocks: of each block the integers are multiplied and
// added exactly, then one multiply-add in f32 adds them to the sum.
// Must add blocks in the order of K.
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/matmul/MatmulPipe.h"
#include "compiler/halide/passes/Unswitch.h"

using namespace Halide;

namespace mille {
namespace {

constexpr int block = 32, group = 4, groups = block / group;
constexpr int rowsOfPanel = 16, line = rowsOfPanel * group;

} // namespace

// A panel is one stream, which is read byte after byte: in a block lines of the
// accumulators take turns. (With one accumulator's after the other's a matmul
// of two had half the speed on Zen 4.)
void MatmulPipe::declareBlocks() {
  const int bytes = accumulators * int(formOf(s.blocks).bytes());
  const int blocks = K / block;
  weight = ImageParam(UInt(8), 3, names("weight"));
  weight.dim(0).set_bounds(0, bytes);
  weight.dim(1).set_bounds(0, blocks).set_stride(bytes);
  weight.dim(2).set_bounds(0, panels).set_stride(bytes * blocks);
  parameters = bufferOf(s.parameters, names("parameters"));
  pipe.arguments = {input, weight, parameters};
}

// A level of group `y` as it is multiplied: `offset` above what it stands for,
// and `factor` times as large. Halide would see that a nibble fits a signed
// byte and then multiply signed bytes, for which there is no instruction; 16
// times a nibble does not fit.
Expr MatmulPipe::levelAt(const Expr &b, const Expr &x, const Expr &y) const {
  auto bits = [](int number) { return cast<uint8_t>(number); };
  auto byteOf = [&](const Expr &number) {
    return weight((number * accumulators + a) * line + ni * group + x, b,
                  panelNumber());
  };
  const int width = formOf(s.blocks).bits, halves = groups / 2;
  if (width == 8)
    return byteOf(y);
  Expr byte = byteOf(y % halves);
  if (width == 4)
    return select(y < halves, byte << bits(4), byte & bits(0xf0));
  Expr fifth = byteOf(halves) << cast<uint8_t>(groups - 1 - y);
  Expr others = select(y < halves, byte << bits(3), byte >> bits(1));
  return (others & bits(0x78)) | (fifth & bits(0x80));
}

// The block's scale in f32, over the factor of its levels.
Expr MatmulPipe::scaleAt(const Expr &b) const {
  const BlockForm form = formOf(s.blocks);
  Expr first = accumulators * form.bits * line + a * rowsOfPanel * 2 + ni * 2;
  Expr bits = concat_bits(
      {weight(first, b, panelNumber()), weight(first + 1, b, panelNumber())});
  Expr scale = cast<float>(reinterpret(Float(16), bits));
  return form.factor() == 1 ? scale : multiplied(scale, 1.0f / form.factor());
}

void MatmulPipe::multiplyBlocks() {
  const BlockForm form = formOf(s.blocks);
  const int offset = form.offset * form.factor();
  Expr start = rowRead(), row = rowAt(i, t);
  Expr there = hasShortTiles ? select(lastIsWhole, row, start) : row;
  k = RDom(0, group, 0, groups, names("k"));
  blocks = RDom(0, K / block, names("blocks"));
  k.where(inTileOfAll(i, t));
  blocks.where(inTileOfAll(i, t));
  std::vector<Var> inBlock = inTile;
  inBlock.push_back(b);
  dot = make("dot");
  // A row that is not summed costs nothing: not even the start of its sum.
  RDom once(0, 1, names("once"));
  once.where(inTileOfAll(i, t));
  Expr sum = parameters(K / block + b + once.x, start);
  dot(inBlock) = undef<int32_t>();
  dot(inBlock) = cast<int32_t>(sum) * -offset;
  dot(inBlock) += cast<int32_t>(levelAt(b, k.x, k.y)) *
                  cast<int32_t>(input(b * block + k.y * group + k.x, there));
  std::vector<Expr> ofBlock(inTile.begin(), inTile.end());
  ofBlock.push_back(blocks.x);
  product(inTile) = 0.0f;
  product(inTile) += cast<float>(dot(ofBlock)) *
                     multiplied(scaleAt(blocks.x), parameters(blocks.x, there));
}

// All products of a block are unrolled: 8 instructions for each row.
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
  dot.bound_extent(b, 1).unroll(i).store_in(MemoryType::Register);
  dot.update(0).reorder(ni, a, i).vectorize(ni, V).unroll(ni).unroll(a).unroll(
      i);
  Var nl(names("nl"));
  dot.update(1)
      .split(ni, ni, nl, V)
      .reorder(k.x, nl, ni, a, i, no, k.y)
      .atomic()
      .vectorize(k.x)
      .vectorize(nl)
      .unroll(ni)
      .unroll(a)
      .unroll(i)
      .unroll(k.y);
  pipe.passes.push_back(unswitchUpdate(product.name()));
}

} // namespace mille
