// Each part of a row stays in the registers of its threads from its only read
// to its write. Sums are added in an order that the kernel alone decides.
#include "compiler/nvvm/PartThreads.h"
#include "compiler/nvvm/Region.h"
#include "compiler/nvvm/RowsPart.h"

#include <algorithm>

namespace mille::nvvm {

namespace {

// What a thread asks for before it waits, and the least that is worth it.
constexpr unsigned prefetchBytes = 128, prefetchLeast = 1024;

// A part of the kernel, and where its buffers are among the arguments.
struct Step : Part {
  Step(const Part &part) : Part(part) {}

  std::vector<unsigned> inputs; // not read of inputs from other parts
  unsigned outArgument = 0;
  std::vector<Regs> scalars; // [input][column of a vector]
  std::optional<Region> region;
  // While a row is computed: what was read, and what the region gave.
  std::vector<std::vector<Regs>> values; // [input][vector]
  std::vector<Regs> results;             // [vector]
};

class RowsKernel {
public:
  RowsKernel(mlir::MLIRContext &context, const KernelSpec &spec,
             const std::string &entry)
      : s(spec.rows), tile(spec), launch(describe(spec, entry)),
        b(context, launch) {
    for (Step &step : parts)
      step.region.emplace(b, step.rows.body, isBf16(step.out.element));
  }

  Kernel write();

private:
  Launch describe(const KernelSpec &spec, const std::string &entry);
  void readScalars();
  void askForColumns();
  // Whether a vector's columns exist in all parts and for all threads.
  bool isWhole(unsigned step) const {
    return s.columns % tile.columns == 0 &&
           int64_t(step + 1) * tile.vector * tile.threads <= tile.columns;
  }
  Reg readOne(const BufferSpec &buffer, Reg place);
  // The numbers at a column of a row, or of a vector of columns.
  Regs read(const BufferSpec &buffer, Reg line, Reg column);
  Regs readInput(const Step &step, size_t input, Reg row, Reg column);
  void write(const Step &step, const Regs &values, Reg row, Reg column);
  Reg rowOf(const Step &step, size_t input, Reg row);
  Reg lineOf(unsigned argument, const BufferSpec &buffer, Reg row);
  // The sum over the part's threads.
  Reg summed(Reg x);
  Reg sumOf(const std::vector<Regs> &values, bool squares);
  void norm(const RowsSpec &of, std::vector<Regs> &values);
  bool readsColumnsEarly() const;
  void readRows(Step &step, Reg row);
  void normInput(Step &step);
  Regs computed(Step &step, unsigned vector, Reg row);
  void finish(Step &step, Reg row);
  void piece(Reg wanted, Reg all);

  const RowsSpec &s; // of the first part
  const RowsTile tile;
  std::vector<Step> parts;
  std::vector<unsigned> indices; // arguments
  unsigned rows = 0;
  Launch launch;
  Builder b;
  PartThreads threads{tile};
  Regs inside;  // of a vector, whether its columns exist; absent: all do
  Regs columns; // of a vector, the first
};

Launch RowsKernel::describe(const KernelSpec &spec, const std::string &entry) {
  Launch launch;
  launch.entry = entry;
  launch.half = halfOf(spec);
  uint32_t buffer = 0;
  for (const Part &part : partsOf(spec)) {
    Step &step = parts.emplace_back(part);
    for (int source : part.sources)
      step.inputs.push_back(source < 0 ? launch.addAddress(buffer++) : 0);
    if (parts.size() == 1)
      for (int i = 0; i < s.indices; ++i)
        indices.push_back(launch.addAddress(buffer++));
  }
  for (Step &step : parts)
    if (step.written)
      step.outArgument = launch.addAddress(buffer++);
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
  return b.fromHalf(b.load(place, b.i16(), 2));
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
        for (Reg number : b.unpackHalf(word))
          values.push_back(number);
    }
  }
  return values;
}

// Of a gathered input: the row of its table, inside of it whatever the index.
Reg RowsKernel::rowOf(const Step &step, size_t input, Reg row) {
  const int64_t gather = step.rows.gather[input];
  if (gather < 0)
    return row;
  Reg index =
      b.load(b.at(b.argument(indices[gather]), b.widen(row) * 4), b.i32());
  return b.minSigned(b.maxSigned(index, 0), step.rows.inputs[input].rows - 1);
}

Regs RowsKernel::readInput(const Step &step, size_t input, Reg row,
                           Reg column) {
  const BufferSpec &buffer = step.rows.inputs[input];
  if (!isElement(step, input))
    return read(buffer, b.argument(step.inputs[input]), column);
  return read(buffer, lineOf(step.inputs[input], buffer, row), column);
}

void RowsKernel::write(const Step &step, const Regs &values, Reg row,
                       Reg column) {
  const unsigned bytes = unsigned(bytesOf(step.out.element));
  Reg place =
      b.at(lineOf(step.outArgument, step.out, row), column * int(bytes));
  const unsigned whole = tile.vector * bytes;
  if (bytes == 4)
    return b.store(b.vector(values), place, whole);
  if (tile.vector == 1)
    return b.store(b.toHalf(values[0]), place, whole);
  Regs words;
  for (unsigned i = 0; i < tile.vector; i += 2)
    words.push_back(b.packHalf(values[i], values[i + 1]));
  b.store(b.vector(words), place, whole);
}

//===-- Sums --------------------------------------------------------------===//

Reg RowsKernel::summed(Reg x) {
  return threads.combined(x, b.f32(), [](Reg a, Reg c) { return a + c; });
}

Reg RowsKernel::sumOf(const std::vector<Regs> &values, bool squares) {
  Reg sum = b.real(0);
  for (const Regs &step : values)
    for (Reg x : step)
      sum = squares ? b.fma(x, x, sum) : sum + x;
  return summed(sum);
}

// values: of input 0, 0 where there is no column.
void RowsKernel::norm(const RowsSpec &of, std::vector<Regs> &values) {
  const double share = 1.0 / double(of.group);
  if (of.norm == RowStatistic::layer) {
    Reg mean = sumOf(values, false) * share;
    for (auto [step, numbers] : llvm::enumerate(values))
      for (Reg &x : numbers) {
        x = x - mean;
        if (inside[step])
          x = b.select(inside[step], x, b.real(0));
      }
  }
  Reg squares = sumOf(values, true), scale;
  if (of.norm == RowStatistic::l2)
    scale = b.reciprocal(b.maximum(b.sqrt(squares), of.eps));
  else
    scale = b.rsqrt(b.fma(squares, share, of.eps));
  for (Regs &numbers : values)
    for (Reg &x : numbers)
      x = x * scale;
}

//===-- A piece -----------------------------------------------------------===//

// Whether registers hold what is read by column while the row's sums are added:
// it comes with the row then, not after them, from memory as far away.
bool RowsKernel::readsColumnsEarly() const {
  constexpr unsigned mostRegisters = 64;
  unsigned operands = 0;
  for (const Step &step : parts)
    for (auto [i, input] : llvm::enumerate(step.rows.inputs))
      operands += step.sources[i] < 0 && input.reading == Reading::column;
  return operands * tile.steps * tile.vector <= mostRegisters;
}

// What a part reads of its row from memory.
void RowsKernel::readRows(Step &step, Reg row) {
  const std::vector<BufferSpec> &inputs = step.rows.inputs;
  step.values.assign(inputs.size(), {});
  const bool early = readsColumnsEarly();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (isElement(step, i) || (early && step.sources[i] < 0 &&
                               inputs[i].reading == Reading::column)) {
      Reg from = rowOf(step, i, row);
      for (Reg column : columns)
        step.values[i].push_back(readInput(step, i, from, column));
    } else if (step.sources[i] < 0 && inputs[i].reading == Reading::row) {
      Reg of = readOne(inputs[i], lineOf(step.inputs[i], inputs[i], row));
      step.values[i].assign(tile.steps, Regs(tile.vector, of));
    }
}

void RowsKernel::normInput(Step &step) {
  std::vector<Regs> &values = step.values[0];
  if (step.sources[0] >= 0)
    values = parts[step.sources[0]].results;
  for (unsigned v = 0; v < tile.steps; ++v)
    if (inside[v])
      for (Reg &x : values[v])
        x = b.select(inside[v], x, b.real(0));
  norm(step.rows, values);
}

// The region's results for a vector.
Regs RowsKernel::computed(Step &step, unsigned vector, Reg row) {
  const std::vector<BufferSpec> &inputs = step.rows.inputs;
  std::vector<Regs> arguments;
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments.push_back(!step.values[i].empty() ? step.values[i][vector]
                        : step.sources[i] >= 0
                            ? parts[step.sources[i]].results[vector]
                        : inputs[i].reading == Reading::scalar
                            ? step.scalars[i]
                            : readInput(step, i, row, columns[vector]));
  Regs results;
  for (unsigned e = 0; e < tile.vector; ++e) {
    Regs of;
    for (const Regs &argument : arguments)
      of.push_back(argument[e]);
    results.push_back(step.region->apply(of));
  }
  return results;
}

// The last parts, from this one on, of which no later one has a norm; or this
// part alone, whose results all threads need.
void RowsKernel::finish(Step &first, Reg row) {
  const bool last =
      std::none_of(&first + 1, parts.data() + parts.size(),
                   [](const Step &step) { return isNormed(step.rows); });
  Step *end = last ? parts.data() + parts.size() : &first + 1;
  for (unsigned v = 0; v < tile.steps; ++v) {
    auto compute = [&] {
      for (Step *step = &first; step != end; ++step) {
        step->results[v] = computed(*step, v, row);
        if (step->written && last)
          write(*step, step->results[v], row, columns[v]);
      }
    };
    if (inside[v] && last)
      b.ifThen(inside[v], compute);
    else
      compute();
    if (!first.written || last)
      continue;
    auto store = [&] { write(first, first.results[v], row, columns[v]); };
    if (inside[v])
      b.ifThen(inside[v], store);
    else
      store();
  }
}

void RowsKernel::piece(Reg wanted, Reg all) {
  // Lanes of a warp that have no part of their own take part in its sums.
  const bool shared = tile.threads < 32;
  Reg number = shared ? b.minSigned(wanted, all - 1) : wanted;
  Reg row = tile.parts == 1 ? number : number / tile.parts;
  Reg first =
      tile.parts == 1 ? b.constant(0) : number % tile.parts * tile.columns;
  columns.clear();
  inside.clear();
  for (unsigned step = 0; step < tile.steps; ++step) {
    Reg own = (threads.thread + step * tile.threads) * int(tile.vector);
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
  for (Step &step : parts) {
    readRows(step, row);
    step.results.assign(tile.steps, {});
  }
  for (Step &step : parts) {
    if (isNormed(step.rows))
      normInput(step);
    if (step.results.back().empty())
      finish(step, row);
  }
}

void RowsKernel::readScalars() {
  for (Step &step : parts) {
    const std::vector<BufferSpec> &inputs = step.rows.inputs;
    step.scalars.resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (step.sources[i] < 0 && !isElement(step, i) &&
          inputs[i].reading == Reading::scalar) {
        Reg of = readOne(inputs[i], b.argument(step.inputs[i]));
        step.scalars[i].assign(tile.vector, of);
      }
  }
}

// Prefetches the operands that are read by column, while earlier kernels end:
// products of many weights have driven them out of L2.
void RowsKernel::askForColumns() {
  Reg at = b.threadIndex() * int(prefetchBytes);
  for (const Step &step : parts)
    for (auto [i, input] : llvm::enumerate(step.rows.inputs)) {
      const int64_t bytes = s.columns * bytesOf(input.element);
      const auto argument = step.inputs[i];
      if (step.sources[i] < 0 && input.reading == Reading::column &&
          bytes >= prefetchLeast)
        b.ifThen(lt(at, bytes),
                 [&] { b.prefetch(b.at(b.argument(argument), at)); });
    }
}

Kernel RowsKernel::write() {
  b.admitNextKernel();
  askForColumns();
  b.waitForEarlierKernels();
  threads.begin(b);
  readScalars();
  Reg all = b.argument(rows) * tile.parts;
  threads.each(all, [&](Reg wanted) { piece(wanted, all); });
  return {b.finish(), launch};
}

} // namespace

Kernel writeRows(mlir::MLIRContext &context, const KernelSpec &spec,
                 const std::string &entry) {
  return RowsKernel(context, spec, entry).write();
}

} // namespace mille::nvvm
