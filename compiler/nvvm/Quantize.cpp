// A row stays in the registers of its threads. Numbers are compared as
// integers, as kernel.quantize says; of integers arithmetic is that of all
// instruction sets, so that bytes are the same.
#include "compiler/nvvm/Quantize.h"

#include "compiler/nvvm/PartThreads.h"
#include "dialects/transformer/E4m3.h"

namespace mille::nvvm {

namespace {

constexpr int64_t signBit = 0x80000000;
constexpr int bytesOfWord = 4;
// Which of equal numbers is the outlier: the first in the order of columns
// modulo so many.
constexpr int lanesOfOrder = 64;

// Threads share rows as they do where a row is normed.
RowsTile tileOf(const KernelSpec &spec) {
  KernelSpec rows;
  rows.kind = KernelKind::rows;
  rows.rows.columns = rows.rows.group = spec.quantize.input.columns;
  rows.rows.inputs = {spec.quantize.input};
  rows.rows.gather = {-1};
  rows.rows.norm = RowStatistic::l2;
  rows.out = spec.quantize.values;
  return RowsTile(rows);
}

class QuantizeKernel {
public:
  QuantizeKernel(mlir::MLIRContext &context, const KernelSpec &spec,
                 const std::string &entry)
      : s(spec.quantize), parameters(spec.out), tile(tileOf(spec)),
        launch(describe(entry)), b(context, launch) {}
  Kernel write();

private:
  Launch describe(const std::string &entry);
  Regs read(Reg line, Reg column);
  // The largest over the row's threads, with sign.
  Reg largest(Reg x);
  // The largest of what `of` gives for each number of the row and its column.
  Reg largestOf(llvm::function_ref<Reg(Reg bits, Reg column)> of);
  void readRow(Reg line);
  struct Outlier {
    Reg column, number;
  };
  Outlier findOutlier();
  Reg endOf(Reg outlier, bool isLow);
  Reg byteOf(Reg x);
  struct Scale {
    Reg zero, inverse, shift; // 1 / step; what is added before truncation
  };
  // A byte in each register as words.
  Regs wordsOf(const Regs &bytes);
  Regs integersOf(unsigned v, Reg outlier, const Scale &scale);
  Regs floatsOf(unsigned v, Reg inverse);
  // The row's values, from words of each vector. isRow: whether it exists.
  void store(llvm::function_ref<Regs(unsigned v)> words, Reg number, Reg isRow);
  // Written by one thread.
  void storeParameters(const Regs &all, Reg number, Reg isRow);
  void rowOfIntegers(Reg number, Reg isRow);
  void rowOfFloats(Reg number, Reg isRow);
  void row(Reg wanted, Reg all);

  const QuantizeSpec &s;
  const BufferSpec &parameters;
  const RowsTile tile;
  unsigned rows = 0;
  Launch launch;
  Builder b;
  PartThreads threads{tile};
  std::vector<Regs> numbers; // [vector], as bits
  Regs columns, inside;      // of a vector: the first, whether it exists
};

} // namespace

Launch QuantizeKernel::describe(const std::string &entry) {
  Launch launch;
  launch.entry = entry;
  for (uint32_t buffer : {0, 1, 2}) // input, values, parameters
    launch.addAddress(buffer);
  rows = launch.addAmount(amountOf(MILLE_COUNT_ROWS));
  launch.threads = tile.blockThreads();
  if (tile.threads > 32)
    launch.sharedBytes = 2 * 4 * launch.threads / 32;
  launch.blocksPerUnit = blocksPerUnit;
  launch.overlaps = true;
  launch.tiles[0] = amountOf(MILLE_COUNT_ROWS, 1, tile.together);
  return launch;
}

//===-- Memory ------------------------------------------------------------===//

static Reg lineOf(Builder &b, unsigned argument, const BufferSpec &buffer,
                  Reg row) {
  return b.at(b.argument(argument),
              b.widen(row) * (buffer.rowStride * bytesOf(buffer.element)));
}

// The bits of a vector of numbers, as f32.
Regs QuantizeKernel::read(Reg line, Reg column) {
  const unsigned bytes = unsigned(bytesOf(s.input.element)),
                 piece = std::min(tile.vector, 16 / bytes);
  Regs values;
  for (unsigned from = 0; from < tile.vector; from += piece) {
    Reg at = b.at(line, (column + from) * int(bytes));
    Reg words =
        b.load(at, b.vectorOf(piece * bytes / 4, b.i32()), piece * bytes);
    for (Reg word : b.elements(words))
      if (bytes == 4)
        values.push_back(word);
      else
        values.insert(values.end(), {word << 16, word & int64_t(0xffff0000)});
  }
  return values;
}

Regs QuantizeKernel::wordsOf(const Regs &bytes) {
  Regs words;
  for (unsigned from = 0; from < bytes.size(); from += bytesOfWord) {
    Reg word = bytes[from];
    for (int e = 1; e < bytesOfWord; ++e)
      word = word | bytes[from + e] << 8 * e;
    words.push_back(word);
  }
  return words;
}

void QuantizeKernel::store(llvm::function_ref<Regs(unsigned v)> words,
                           Reg number, Reg isRow) {
  Reg line = lineOf(b, 1, s.values, number);
  for (unsigned v = 0; v < tile.steps; ++v) {
    Reg exists = inside[v];
    if (isRow)
      exists = exists ? exists & isRow : isRow;
    auto storeOne = [&] {
      b.store(b.vector(words(v)), b.at(line, columns[v]), tile.vector);
    };
    if (exists)
      b.ifThen(exists, storeOne);
    else
      storeOne();
  }
}

void QuantizeKernel::storeParameters(const Regs &all, Reg number, Reg isRow) {
  Reg isFirst = eq(threads.thread, 0);
  b.ifThen(isRow ? isFirst & isRow : isFirst, [&] {
    Reg at = lineOf(b, 2, parameters, number);
    const unsigned bytes = unsigned(all.size() * sizeof(float));
    b.store(all.size() > 1 ? b.vector(all) : all[0], at, bytes);
  });
}

//===-- A row -------------------------------------------------------------===//

Reg QuantizeKernel::largest(Reg x) {
  return threads.combined(x, b.i32(),
                          [&](Reg a, Reg c) { return b.maxSigned(a, c); });
}

Reg QuantizeKernel::largestOf(
    llvm::function_ref<Reg(Reg bits, Reg column)> of) {
  Reg least = b.constant(signBit), most = least;
  for (unsigned v = 0; v < tile.steps; ++v)
    for (unsigned e = 0; e < tile.vector; ++e) {
      Reg one = of(numbers[v][e], columns[v] + int(e));
      most =
          b.maxSigned(most, inside[v] ? b.select(inside[v], one, least) : one);
    }
  return largest(most);
}

// The row's numbers, and which of their columns exist.
void QuantizeKernel::readRow(Reg line) {
  columns.clear();
  inside.clear();
  numbers.clear();
  for (unsigned v = 0; v < tile.steps; ++v) {
    Reg column = (threads.thread + v * tile.threads) * int(tile.vector), exists;
    if (int64_t(v + 1) * tile.vector * tile.threads > tile.columns) {
      exists = lt(column, tile.columns);
      column = b.select(exists, column, b.constant(0));
    }
    inside.push_back(exists);
    columns.push_back(column);
    numbers.push_back(read(line, column));
  }
}

// The magnitude, then whether there is no sign: unsigned order as a signed one.
static Reg rankOf(Reg bits) {
  return ((bits << 1) | ((bits >> 31) ^ 1)) ^ signBit;
}

QuantizeKernel::Outlier QuantizeKernel::findOutlier() {
  Reg top = largestOf([&](Reg bits, Reg) { return rankOf(bits); });
  const int turns = int((tile.columns + lanesOfOrder - 1) / lanesOfOrder);
  constexpr int64_t reversed = 0x7fffffff;
  Reg first = largestOf([&](Reg bits, Reg column) {
    Reg order = column % lanesOfOrder * turns + column / lanesOfOrder;
    return b.select(eq(rankOf(bits), top), order ^ reversed,
                    b.constant(signBit));
  });
  Reg order = first ^ reversed, rank = top ^ signBit;
  return {order / turns + order % turns * lanesOfOrder,
          b.bits((rank >> 1) | (((rank & 1) ^ 1) << 31), b.f32())};
}

// The largest of 0 and the others, or of their magnitudes below 0.
Reg QuantizeKernel::endOf(Reg outlier, bool isLow) {
  Reg end = largestOf([&](Reg bits, Reg column) {
    Reg x = isLow ? b.select(lt(bits, 0), bits ^ signBit, b.constant(0)) : bits;
    return b.select(eq(column, outlier), b.constant(0), x);
  });
  return b.bits(b.maxSigned(end, 0), b.f32());
}

// No number is negative, so adding 0.5 and truncating rounds to nearest.
Reg QuantizeKernel::byteOf(Reg x) {
  return b.minSigned(b.maxSigned(b.toInteger(x), 0), 255);
}

Regs QuantizeKernel::integersOf(unsigned v, Reg outlier, const Scale &scale) {
  Regs bytes;
  for (unsigned e = 0; e < tile.vector; ++e) {
    Reg product = b.bits(numbers[v][e], b.f32()) * scale.inverse;
    bytes.push_back(b.select(eq(columns[v] + int(e), outlier), scale.zero,
                             byteOf(product + scale.shift)));
  }
  return wordsOf(bytes);
}

// 2^-100 or more: the inverse is finite.
static Reg leastScale(Builder &b, Reg exact) {
  return b.bits(
      b.maxSigned(b.bits(exact, b.i32()), b.bits(b.real(0x1p-100), b.i32())),
      b.f32());
}

void QuantizeKernel::rowOfIntegers(Reg number, Reg isRow) {
  Outlier outlier = findOutlier();
  Reg high = endOf(outlier.column, false), low = endOf(outlier.column, true);
  Reg step = leastScale(b, (high + low) * double(1.0f / 255));
  Reg zero = byteOf(b.divide(low, step) + 0.5);
  const Scale scale = {zero, b.divide(b.real(1), step), b.toFloat(zero) + 0.5};
  store([&](unsigned v) { return integersOf(v, outlier.column, scale); },
        number, isRow);
  storeParameters(
      {step, b.toFloat(zero), outlier.number, b.toFloat(outlier.column)},
      number, isRow);
}

Regs QuantizeKernel::floatsOf(unsigned v, Reg inverse) {
  Regs words, four;
  for (Reg number : numbers[v]) {
    four.push_back(b.bits(number, b.f32()) * inverse);
    if (four.size() < bytesOfWord)
      continue;
    words.push_back(b.packE4m3(four));
    four.clear();
  }
  return words;
}

void QuantizeKernel::rowOfFloats(Reg number, Reg isRow) {
  constexpr int64_t magnitude = 0x7fffffff;
  Reg top = largestOf([&](Reg bits, Reg) { return bits & magnitude; });
  Reg scale = leastScale(b, b.divide(b.bits(top, b.f32()), mostE4m3));
  Reg inverse = b.divide(b.real(1), scale);
  store([&](unsigned v) { return floatsOf(v, inverse); }, number, isRow);
  storeParameters({scale}, number, isRow);
}

void QuantizeKernel::row(Reg wanted, Reg all) {
  // Lanes of a warp that have no row of their own take part all the same.
  const bool shared = tile.threads < 32;
  Reg number = shared ? b.minSigned(wanted, all - 1) : wanted;
  Reg isRow = shared ? lt(wanted, all) : Reg();
  readRow(lineOf(b, 0, s.input, number));
  if (s.values.element == Element::e4m3)
    rowOfFloats(number, isRow);
  else
    rowOfIntegers(number, isRow);
}

Kernel QuantizeKernel::write() {
  b.admitNextKernel();
  b.waitForEarlierKernels();
  threads.begin(b);
  Reg all = b.argument(rows);
  threads.each(all, [&](Reg wanted) { row(wanted, all); });
  return {b.finish(), launch};
}

std::string wordsOfQuantize(const KernelSpec &spec) {
  return wordsOf(tileOf(spec));
}

std::string whyNotQuantize(const KernelSpec &spec) {
  if (spec.quantize.inBlocks())
    return "its bytes are in blocks";
  if (spec.quantize.input.element == Element::f16)
    return "its input is f16";
  for (int64_t number :
       {spec.quantize.input.columns, spec.quantize.input.rowStride,
        spec.quantize.values.rowStride})
    if (number % bytesOfWord)
      return "its rows are " + std::to_string(spec.quantize.input.columns) +
             " columns, which are no whole words of bytes";
  if (spec.quantize.input.columns > mostNormed)
    return std::to_string(spec.quantize.input.columns) +
           " columns are rounded together but registers hold " +
           std::to_string(mostNormed);
  return "";
}

Kernel writeQuantize(mlir::MLIRContext &context, const KernelSpec &spec,
                     const std::string &entry) {
  return QuantizeKernel(context, spec, entry).write();
}

} // namespace mille::nvvm
