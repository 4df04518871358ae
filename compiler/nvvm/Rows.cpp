// Each part of a row stays in the registers of its threads from its only read
// to its write. Sums are added in an order that the kernel alone decides.
#include "compiler/nvvm/Rows.h"
#include "compiler/nvvm/Region.h"

#include <algorithm>

namespace mille::nvvm {

namespace {

// A block's threads, where a part needs no more.
constexpr unsigned usualThreads = 256;
// Registers for a part: with 64 columns a thread, two blocks fit a unit.
constexpr int64_t mostColumns = 64, usualColumns = 32, mostThreads = 512;
// Columns of a thread where nothing is normed.
constexpr int64_t pieceColumns = 16;
// Blocks of a unit: memory is busy from four on (measured on an H200: 0.85 of
// a copy's bandwidth with one block, 0.97 with eight).
constexpr unsigned blocksPerUnit = 8;

bool isElement(const RowsSpec &s, size_t input) {
  return s.gather[input] >= 0 || s.inputs[input].reading == Reading::element;
}

// The largest power of two that divides columns and strides, up to 16 bytes.
unsigned vectorOf(const KernelSpec &spec, int64_t group) {
  const RowsSpec &s = spec.rows;
  int64_t vector = 16 / bytesOf(spec.out.element);
  auto divide = [&](int64_t number) {
    while (number % vector)
      vector /= 2;
  };
  divide(s.columns);
  divide(group);
  divide(spec.out.rowStride);
  for (size_t i = 0; i < s.inputs.size(); ++i)
    if (isElement(s, i)) {
      vector = std::min(vector, 16 / bytesOf(s.inputs[i].element));
      divide(s.inputs[i].rowStride);
    }
  return unsigned(vector);
}

int64_t powerOfTwo(int64_t least) {
  int64_t power = 1;
  while (power < least)
    power *= 2;
  return power;
}

int64_t over(int64_t a, int64_t b) { return (a + b - 1) / b; }

} // namespace

RowsTile::RowsTile(const KernelSpec &spec) {
  const RowsSpec &s = spec.rows;
  const bool normed = s.norm != RowStatistic::none;
  columns = normed ? s.group : s.columns;
  vector = vectorOf(spec, columns);
  if (!normed)
    columns = std::min<int64_t>(columns, usualThreads * pieceColumns);
  parts = over(s.columns, columns);
  const int64_t each = normed ? usualColumns : pieceColumns;
  threads = unsigned(std::min(powerOfTwo(over(columns, each)), mostThreads));
  // Neighbours read side by side.
  threads = std::max(threads, unsigned(std::min<int64_t>(
                                  powerOfTwo(over(columns, vector)), 32)));
  steps = unsigned(over(columns, int64_t(vector) * threads));
  together = std::max(1u, usualThreads / threads);
}

std::string wordsOf(const RowsTile &tile) {
  return std::to_string(tile.threads) + " threads for " +
         std::to_string(tile.columns) + " columns, " +
         std::to_string(tile.vector) + " at a time";
}

std::string whyNotRows(const KernelSpec &spec) {
  const RowsSpec &s = spec.rows;
  auto isNumber = [](const BufferSpec &buffer) {
    return buffer.element == Element::f32 || buffer.element == Element::bf16;
  };
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    if (!isNumber(s.inputs[i]))
      return "input " + std::to_string(i) + " holds integers";
    if (s.gather[i] >= 0 && s.inputs[i].rows < 0)
      return "input " + std::to_string(i) +
             " is gathered from as many rows as a run has";
  }
  if (!isNumber(spec.out))
    return "the out holds integers";
  if (s.norm != RowStatistic::none && s.group > mostColumns * mostThreads)
    return std::to_string(s.group) +
           " columns are normed together but registers hold " +
           std::to_string(mostColumns * mostThreads);
  return whyNoRegion(s.body);
}

namespace {

class RowsKernel {
public:
  RowsKernel(mlir::MLIRContext &context, const KernelSpec &spec,
             const std::string &entry)
      : spec(spec), s(spec.rows), tile(spec), launch(describe(entry)),
        b(context, launch), region(b, s.body, isBf16(spec.out.element)) {}

  Kernel write();

private:
  Launch describe(const std::string &entry);
  void placeThread();
  void readScalars();
  // Whether a step's columns exist in all parts and for all threads.
  bool isWhole(unsigned step) const {
    return s.columns % tile.columns == 0 &&
           int64_t(step + 1) * tile.vector * tile.threads <= tile.columns;
  }
  Reg readOne(const BufferSpec &buffer, Reg place);
  // The numbers at a column of a row, or of a vector of columns.
  Regs read(const BufferSpec &buffer, Reg line, Reg column);
  Regs readInput(size_t input, Reg row, Reg column);
  void write(const Regs &values, Reg row, Reg column);
  Reg rowOf(size_t input, Reg row);
  Reg lineOf(unsigned argument, const BufferSpec &buffer, Reg row);
  // The sum over the part's threads.
  Reg summed(Reg x);
  Reg sumOf(const std::vector<Regs> &values, bool squares);
  void norm(std::vector<Regs> &values);
  void part(Reg wanted, Reg all);

  const KernelSpec &spec;
  const RowsSpec &s;
  const RowsTile tile;
  std::vector<unsigned> inputs, indices; // arguments
  unsigned out = 0, rows = 0;
  Launch launch;
  Builder b;
  Region region;
  Reg thread, slot; // in the part's threads; of the parts of the block
  Reg sumPlace;     // which of two places sums go to next
  std::vector<Regs> scalars;
  Regs inside;  // of a step, whether its columns exist; absent: all do
  Regs columns; // of a step, the first
};

Launch RowsKernel::describe(const std::string &entry) {
  Launch launch;
  launch.entry = entry;
  uint32_t buffer = 0;
  for (size_t i = 0; i < s.inputs.size(); ++i)
    inputs.push_back(launch.addAddress(buffer++));
  for (int i = 0; i < s.indices; ++i)
    indices.push_back(launch.addAddress(buffer++));
  out = launch.addAddress(buffer);
  rows = launch.addAmount(amountOf(MILLE_COUNT_ROWS));
  launch.threads = tile.blockThreads();
  // Two words for each warp of a part.
  if (tile.threads > 32)
    launch.sharedBytes = 2 * 4 * launch.threads / 32;
  launch.blocksPerUnit = blocksPerUnit;
  launch.overlaps = true;
  launch.tiles[0] =
      amountOf(MILLE_COUNT_ROWS, uint32_t(tile.parts), tile.together);
  return launch;
}

//===-- Memory ------------------------------------------------------------===//

Reg RowsKernel::lineOf(unsigned argument, const BufferSpec &buffer, Reg row) {
  return b.at(b.argument(argument),
              b.widen(row) * (buffer.rowStride * bytesOf(buffer.element)));
}

Reg RowsKernel::readOne(const BufferSpec &buffer, Reg place) {
  if (buffer.element == Element::f32)
    return b.load(place, b.f32());
  Reg half = b.load(place, b.i16(), 2);
  return b.bits(b.widenTo(half, b.i32()) << 16, b.f32());
}

Regs RowsKernel::read(const BufferSpec &buffer, Reg line, Reg column) {
  const unsigned bytes = unsigned(bytesOf(buffer.element));
  const unsigned piece = std::min(tile.vector, 16 / bytes); // columns
  Regs values;
  for (unsigned from = 0; from < tile.vector; from += piece) {
    Reg place = b.at(line, (column + from) * int(bytes));
    if (bytes == 4) {
      Reg numbers = b.load(place, b.vectorOf(piece, b.f32()), piece * bytes);
      for (Reg number : b.elements(numbers))
        values.push_back(number);
    } else if (piece == 1) {
      values.push_back(readOne(buffer, place));
    } else {
      Reg words = b.load(place, b.vectorOf(piece / 2, b.i32()), piece * bytes);
      for (Reg word : b.elements(words))
        for (Reg number : b.unpackBf16(word))
          values.push_back(number);
    }
  }
  return values;
}

// Of a gathered input: the row of its table, inside of it whatever the index.
Reg RowsKernel::rowOf(size_t input, Reg row) {
  if (s.gather[input] < 0)
    return row;
  Reg index = b.load(
      b.at(b.argument(indices[s.gather[input]]), b.widen(row) * 4), b.i32());
  return b.minSigned(b.maxSigned(index, 0), s.inputs[input].rows - 1);
}

Regs RowsKernel::readInput(size_t input, Reg row, Reg column) {
  const BufferSpec &buffer = s.inputs[input];
  if (!isElement(s, input))
    return read(buffer, b.argument(inputs[input]), column);
  return read(buffer, lineOf(inputs[input], buffer, row), column);
}

void RowsKernel::write(const Regs &values, Reg row, Reg column) {
  const unsigned bytes = unsigned(bytesOf(spec.out.element));
  Reg place = b.at(lineOf(out, spec.out, row), column * int(bytes));
  const unsigned whole = tile.vector * bytes;
  if (bytes == 4)
    return b.store(b.vector(values), place, whole);
  if (tile.vector == 1)
    return b.store(b.toBf16(values[0]), place, whole);
  Regs words;
  for (unsigned i = 0; i < tile.vector; i += 2)
    words.push_back(b.packBf16(values[i], values[i + 1]));
  b.store(b.vector(words), place, whole);
}

//===-- Sums --------------------------------------------------------------===//

Reg RowsKernel::summed(Reg x) {
  for (unsigned distance = std::min(tile.threads, 32u) / 2; distance;
       distance /= 2)
    x = x + b.shuffleXor(x, distance);
  if (tile.threads <= 32)
    return x;
  // The next sum takes the other place, so that one barrier is enough: who
  // writes there has passed the barrier after which the last one was read.
  const unsigned warps = tile.threads / 32;
  Reg places =
      b.at(b.sharedMemory(), sumPlace * int(4 * tile.blockThreads() / 32) +
                                 slot * int(4 * warps));
  b.ifThen(eq(thread % 32, 0),
           [&] { b.store(x, b.at(places, thread / 32 * 4)); });
  b.syncNamed(slot + 1, tile.threads);
  Reg sum = b.load(places, b.f32());
  for (unsigned w = 1; w < warps; ++w)
    sum = sum + b.load(b.at(places, 4 * w), b.f32());
  sumPlace = sumPlace ^ 1;
  return sum;
}

Reg RowsKernel::sumOf(const std::vector<Regs> &values, bool squares) {
  Reg sum = b.real(0);
  for (const Regs &step : values)
    for (Reg x : step)
      sum = squares ? b.fma(x, x, sum) : sum + x;
  return summed(sum);
}

// values: of input 0, 0 where there is no column.
void RowsKernel::norm(std::vector<Regs> &values) {
  const double share = 1.0 / double(s.group);
  if (s.norm == RowStatistic::layer) {
    Reg mean = sumOf(values, false) * share;
    for (auto [step, of] : llvm::enumerate(values))
      for (Reg &x : of) {
        x = x - mean;
        if (inside[step])
          x = b.select(inside[step], x, b.real(0));
      }
  }
  Reg squares = sumOf(values, true), scale;
  if (s.norm == RowStatistic::l2)
    scale = b.reciprocal(b.maximum(b.sqrt(squares), s.eps));
  else
    scale = b.rsqrt(b.fma(squares, share, s.eps));
  for (Regs &of : values)
    for (Reg &x : of)
      x = x * scale;
}

//===-- A part ------------------------------------------------------------===//

void RowsKernel::part(Reg wanted, Reg all) {
  // Lanes of a warp that have no part of their own take part in its sums.
  const bool shared = tile.threads < 32;
  Reg number = shared ? b.minSigned(wanted, all - 1) : wanted;
  Reg row = tile.parts == 1 ? number : number / tile.parts;
  Reg first =
      tile.parts == 1 ? b.constant(0) : number % tile.parts * tile.columns;
  columns.clear();
  inside.clear();
  for (unsigned step = 0; step < tile.steps; ++step) {
    Reg own = (thread + step * tile.threads) * int(tile.vector);
    Reg column = first + own;
    Reg exists;
    if (shared)
      exists = lt(wanted, all);
    if (!isWhole(step)) {
      Reg in = lt(own, tile.columns) & lt(column, s.columns);
      column = b.select(in, column, b.constant(0));
      exists = exists ? exists & in : in;
    }
    columns.push_back(column);
    inside.push_back(exists);
  }
  // All reads of rows first: memory is far.
  std::vector<std::vector<Regs>> values(s.inputs.size());
  for (size_t i = 0; i < s.inputs.size(); ++i)
    if (isElement(s, i)) {
      Reg from = rowOf(i, row);
      for (unsigned step = 0; step < tile.steps; ++step)
        values[i].push_back(readInput(i, from, columns[step]));
    } else if (s.inputs[i].reading == Reading::row) {
      Reg line = lineOf(inputs[i], s.inputs[i], row);
      Reg of = readOne(s.inputs[i], line);
      values[i].assign(tile.steps, Regs(tile.vector, of));
    }
  if (s.norm != RowStatistic::none) {
    for (unsigned step = 0; step < tile.steps; ++step)
      if (inside[step])
        for (Reg &x : values[0][step])
          x = b.select(inside[step], x, b.real(0));
    norm(values[0]);
  }
  for (unsigned step = 0; step < tile.steps; ++step) {
    auto finish = [&] {
      std::vector<Regs> arguments;
      for (size_t i = 0; i < s.inputs.size(); ++i)
        arguments.push_back(!values[i].empty() ? values[i][step]
                            : s.inputs[i].reading == Reading::scalar
                                ? scalars[i]
                                : readInput(i, row, columns[step]));
      Regs results;
      for (unsigned e = 0; e < tile.vector; ++e) {
        Regs of;
        for (const Regs &argument : arguments)
          of.push_back(argument[e]);
        results.push_back(region.apply(of));
      }
      write(results, row, columns[step]);
    };
    if (inside[step])
      b.ifThen(inside[step], finish);
    else
      finish();
  }
}

void RowsKernel::readScalars() {
  scalars.resize(s.inputs.size());
  for (size_t i = 0; i < s.inputs.size(); ++i)
    if (!isElement(s, i) && s.inputs[i].reading == Reading::scalar) {
      Reg of = readOne(s.inputs[i], b.argument(inputs[i]));
      scalars[i].assign(tile.vector, of);
    }
}

Kernel RowsKernel::write() {
  b.admitNextKernel();
  b.waitForEarlierKernels();
  thread = b.threadIndex() % tile.threads;
  slot = b.threadIndex() / tile.threads;
  readScalars();
  Reg all = b.argument(rows) * tile.parts;
  Reg stride = b.blockCount() * tile.together;
  // Warps stay whole: where parts share one, all of its lanes go on together.
  Reg own = tile.threads < 32 ? slot % int(32 / tile.threads) : b.constant(0);
  b.loop(
      {b.blockIndex() * tile.together + slot, b.constant(0)},
      [&](const Regs &now) { return lt(now[0] - own, all); },
      [&](const Regs &now) {
        sumPlace = now[1];
        part(now[0], all);
        return Regs{now[0] + stride, sumPlace};
      });
  return {b.finish(), launch};
}

} // namespace

Kernel writeRows(mlir::MLIRContext &context, const KernelSpec &spec,
                 const std::string &entry) {
  return RowsKernel(context, spec, entry).write();
}

} // namespace mille::nvvm
