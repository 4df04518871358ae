// Encodes values in blocks, as numbers or as bytes in panels. Must copy blocks
// that are stored in the same encoding unchanged; other numbers are quantised.
#include "compiler/weights/Expression.h"
#include "compiler/weights/Levels.h"

#include <algorithm>
#include <cstring>

using namespace mille;

namespace {

// The levels of a value's rows, block by block.
class Rows {
public:
  Rows(const Expression &value, Encoding encoding,
       const std::vector<double> &importance)
      : value(value), encoding(encoding), importance(importance),
        isStored(value.encoding() == encoding), rowSize(value.rowSize()) {
    if (isStored)
      bytes.resize(*bytesOfRow(encoding, rowSize));
    else
      numbers.resize(rowSize);
  }
  void read(int64_t row) {
    if (isStored)
      value.blocks(row, 1, bytes.data());
    else
      value.rows(row, 1, numbers.data());
  }
  void levelsOf(int64_t block, Levels &levels) const {
    const int64_t first = block * blockLength(encoding);
    if (isStored)
      readLevels(encoding, &bytes[block * blockBytes(encoding)], levels);
    else if (importance.empty())
      quantize(encoding, &numbers[first], levels);
    else
      quantize(encoding, &numbers[first],
               &importance[first % importance.size()], levels);
  }

private:
  const Expression &value;
  Encoding encoding;
  const std::vector<double> &importance; // empty: all the same
  bool isStored;
  int64_t rowSize;
  std::vector<uint8_t> bytes;
  std::vector<double> numbers;
};

class InBlocks final : public Expression {
public:
  using Expression::rows;
  InBlocks(ExpressionPtr from, Encoding encoding, std::vector<double> given)
      : value(std::move(from)), inBlocksOf(encoding),
        importance(std::move(given)) {
    shape = value->shape;
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    Rows rows(*value, inBlocksOf, importance);
    const int64_t length = blockLength(inBlocksOf);
    for (int64_t row = first; row < first + count; ++row) {
      rows.read(row);
      for (int64_t b = 0; b < rowSize() / length; ++b, into += length) {
        Levels levels;
        float numbers[Levels::most];
        rows.levelsOf(b, levels);
        numbersOf(inBlocksOf, levels, numbers);
        std::copy_n(numbers, length, into);
      }
    }
  }

private:
  ExpressionPtr value;
  Encoding inBlocksOf;
  std::vector<double> importance;
};

// [accumulators * N, K] -> [panels, K / numbers that share steps, bytes]. A row
// of the result is a panel.
class PackBlocks final : public Expression {
public:
  using Expression::rows;
  PackBlocks(ExpressionPtr from, BlockPanels panels, std::vector<double> given)
      : value(std::move(from)), importance(std::move(given)),
        packed(panels.encoding), form(blockFormOf(packed)),
        accumulators(panels.accumulators),
        outputs(value->shape[0] / accumulators) {
    shape = panels.shapeOf(value->shape);
  }
  // Gives the bytes as elements of i8, numbers from -128 to 127.
  void rows(int64_t first, int64_t count, double *into) const override {
    std::vector<int8_t> panel(rowSize());
    for (int64_t p = first; p < first + count; ++p) {
      bytes(p, 1, panel.data());
      into = std::copy(panel.begin(), panel.end(), into);
    }
  }
  void bytes(int64_t first, int64_t count, int8_t *into) const override {
    for (int64_t p = first; p < first + count; ++p, into += rowSize())
      fill(p, reinterpret_cast<uint8_t *>(into));
  }

private:
  void fill(int64_t number, uint8_t *panel) const {
    std::fill_n(panel, rowSize(), 0);
    Rows rows(*value, packed, importance);
    for (int64_t a = 0; a < accumulators; ++a)
      for (int64_t j = 0; j < BlockPanels::columns; ++j) {
        const int64_t output = number * BlockPanels::columns + j;
        if (output >= outputs)
          continue;
        rows.read(a * outputs + output);
        for (int64_t b = 0; b < shape[1]; ++b) {
          Levels levels;
          rows.levelsOf(b, levels);
          uint8_t *to = &panel[b * shape[2]];
          for (int64_t block = 0; block < form.blocks; ++block)
            put(levels, block, a, j, to);
          put16(to + form.stepAt(accumulators, a) + j * 2, levels.step);
          if (form.hasLeast)
            put16(to + form.leastStepAt(accumulators, a) + j * 2,
                  levels.leastStep);
        }
      }
  }

  static void put16(uint8_t *to, uint16_t bits) {
    std::memcpy(to, &bits, sizeof bits);
  }

  // Writes one block of row j of accumulator a to its places in the panel,
  // which 16 rows of each accumulator share.
  void put(const Levels &levels, int64_t block, int64_t a, int64_t j,
           uint8_t *to) const {
    const uint8_t *of = levels.levels + block * BlockForm::block;
    uint8_t *first = to + form.levelAt(accumulators, block, 0, a) + j * 4;
    const int64_t across = accumulators * BlockForm::line;
    auto byte = [&](int64_t line, int64_t k) -> uint8_t & {
      return first[line * across + k % 4];
    };
    for (int64_t k = 0; k < BlockForm::block; ++k) {
      const uint8_t level = of[k];
      if (form.bits == 8) {
        byte(k / 4, k) = level;
        continue;
      }
      byte(k / 4 % 4, k) |= k < 16 ? level & 15 : level << 4;
      if (form.bits == 5)
        byte(4, k) |= level >> 4 << k / 4;
      if (form.bits == 6)
        byte(4 + k / 16, k) |= level >> 4 << k / 4 % 4 * 2;
    }
    if (!form.sharesSteps())
      return;
    for (int64_t part = 0; part < form.parts; ++part)
      to[form.scaleAt(accumulators, block, part, a) + j] =
          uint8_t(levels.scales[block * form.parts + part]);
    if (form.hasLeast)
      to[form.leastAt(accumulators, block, a) + j] = levels.leasts[block];
  }

  ExpressionPtr value;
  std::vector<double> importance;
  Encoding packed;
  BlockForm form;
  int64_t accumulators, outputs;
};

} // namespace

// One number for each column, or none at all.
static std::vector<double> ofColumns(std::vector<double> importance,
                                     const Expression &value) {
  if (int64_t(importance.size()) != value.shape.back())
    importance.clear();
  return importance;
}

ExpressionPtr mille::inBlocks(ExpressionPtr value, Encoding encoding,
                              std::vector<double> importance) {
  importance = ofColumns(std::move(importance), *value);
  return std::make_unique<InBlocks>(std::move(value), encoding,
                                    std::move(importance));
}

ExpressionPtr mille::packBlocks(ExpressionPtr value, BlockPanels panels,
                                std::vector<double> importance) {
  if (value->shape.size() == 3) {
    std::vector<ExpressionPtr> entries = entriesOf(std::move(value));
    for (ExpressionPtr &entry : entries)
      entry = packBlocks(std::move(entry), panels, importance);
    return stack(std::move(entries));
  }
  importance = ofColumns(std::move(importance), *value);
  return std::make_unique<PackBlocks>(std::move(value), panels,
                                      std::move(importance));
}
