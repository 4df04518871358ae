// Four lanes have 32 columns of a row, as the lanes of a product's fragment do,
// so that sums are added in the same order. Must not multiply.
#include "compiler/nvvm/NormBehind.h"

#include "compiler/kernels/Describe.h"
#include "compiler/nvvm/ChunkNorm.h"
#include "compiler/nvvm/NormedKernel.h"
#include "compiler/nvvm/Region.h"
#include "compiler/nvvm/Rows.h"

#include <algorithm>

namespace mille::nvvm {

namespace {

constexpr unsigned blockThreads = 256, eights = chunk / 8;

// Which of the written outs the sums go to, or -1.
int outOfSums(const KernelSpec &spec) {
  const std::vector<BufferSpec> outs = spec.outs();
  for (unsigned i = 0; i < outs.size(); ++i)
    if (outs[i].element == Element::f32)
      return i;
  return -1;
}

uint32_t firstOut(const KernelSpec &all) {
  return buffersBeforeExtras(all.matmul) + all.matmul.extras.size();
}

class NormBehind {
public:
  NormBehind(mlir::MLIRContext &context, const KernelSpec &spec,
             const std::string &entry)
      : spec(spec), all(withAllExtras(spec)),
        chunks(unsigned(spec.matmul.columns) / chunk),
        rowThreads((4 * chunks + 31) / 32 * 32),
        together(std::max(1u, blockThreads / rowThreads)),
        direct(all, describe(entry)), b(context, launch),
        norm(b, spec.joined[0].rows) {
    regions.reserve(spec.joined.size());
    for (const JoinedRows &joined : spec.joined)
      regions.emplace_back(b, joined.rows.body, isBf16(joined.out.element));
  }
  Kernel write();

private:
  using Pairs = std::vector<Regs>; // [8 columns] two

  Launch &describe(const std::string &entry);
  Reg lineOf(unsigned argument, const BufferSpec &buffer, Reg row);
  Pairs readSums(Reg row);
  void readColumns();
  ChunkNorm::Factors factorsOf(const Pairs &sums, Reg place);
  Regs inputOf(unsigned extra, unsigned j, Reg row);
  void store(unsigned out, const Pairs &values, Reg row);
  void finish(const Pairs &sums, const ChunkNorm::Factors &factors, Reg row);
  void normRow(Reg row, Reg place);

  const KernelSpec &spec, all;
  const unsigned chunks, rowThreads, together;
  Launch launch;
  std::vector<unsigned> outs; // arguments, of those that are written
  unsigned rows = 0;
  Extras direct;
  Builder b;
  ChunkNorm norm;
  std::vector<Region> regions;   // of joined rows
  std::vector<Pairs> columns;    // of extras that are read by column
  Reg slot, lane, number, first; // row of the block, of four, chunk, column
  Reg exists;                    // whether the chunk does; absent: all do
};

} // namespace

Launch &NormBehind::describe(const std::string &entry) {
  launch.entry = entry;
  launch.half = halfOf(spec);
  for (uint32_t i = 0; i < spec.outs().size(); ++i)
    outs.push_back(launch.addAddress(firstOut(all) + i));
  rows = launch.addAmount(amountOf(MILLE_COUNT_ROWS));
  launch.threads = rowThreads * together;
  launch.sharedBytes = 2 * together * chunks * 8; // two rows' statistics
  launch.blocksPerUnit = blocksPerUnit;
  launch.overlaps = true;
  launch.tiles[0] = amountOf(MILLE_COUNT_ROWS, 1, together);
  return launch;
}

Reg NormBehind::lineOf(unsigned argument, const BufferSpec &buffer, Reg row) {
  return b.at(b.argument(argument),
              b.widen(row) * (buffer.rowStride * bytesOf(buffer.element)));
}

NormBehind::Pairs NormBehind::readSums(Reg row) {
  const int from = outOfSums(spec);
  Reg line = lineOf(outs[from], spec.outs()[from], row);
  Pairs sums;
  for (unsigned j = 0; j < eights; ++j)
    sums.push_back(b.elements(b.load(b.at(line, (first + int(8 * j)) * 4),
                                     b.vectorOf(2, b.f32()), 8)));
  return sums;
}

// A thread has the same columns of all rows.
void NormBehind::readColumns() {
  columns.resize(direct.count());
  for (unsigned x = spec.matmul.extras.size(); x < direct.count(); ++x)
    for (unsigned j = 0; direct.reading(x) == Reading::column && j < eights;
         ++j)
      columns[x].push_back(direct.atColumns(x, first + int(8 * j)));
}

ChunkNorm::Factors NormBehind::factorsOf(const Pairs &sums, Reg place) {
  Regs eight;
  for (const Regs &two : sums)
    eight.insert(eight.end(), two.begin(), two.end());
  Regs statistic = norm.take(eight);
  Reg start =
      b.at(b.sharedMemory(), (place * int(together) + slot) * int(8 * chunks));
  Reg isFirst = eq(lane, 0);
  b.ifThen(exists ? isFirst & exists : isFirst,
           [&] { b.store(b.vector(statistic), b.at(start, number * 8), 8); });
  b.syncNamed(slot + 1, rowThreads);
  return norm.combine(chunks, lane,
                      [&](Reg other) { return b.at(start, other * 8); });
}

// Two columns of a buffer that joined rows read.
Regs NormBehind::inputOf(unsigned extra, unsigned j, Reg row) {
  return direct.reading(extra) == Reading::column
             ? columns[extra][j]
             : direct.at(extra, row, first + int(8 * j));
}

void NormBehind::store(unsigned out, const Pairs &values, Reg row) {
  const BufferSpec buffer = spec.outs()[out];
  const int bytes = int(bytesOf(buffer.element));
  Reg line = lineOf(outs[out], buffer, row);
  for (unsigned j = 0; j < eights; ++j) {
    Reg to = b.at(line, (first + int(8 * j)) * bytes);
    if (isHalf(buffer.element))
      b.store(b.packHalf(values[j][0], values[j][1]), to, 4);
    else
      b.store(b.vector(values[j]), to, 8);
  }
}

// The op's own out, if it is written, is there already.
void NormBehind::finish(const Pairs &sums, const ChunkNorm::Factors &factors,
                        Reg row) {
  std::vector<Pairs> parts{sums};
  unsigned extra = spec.matmul.extras.size(), out = spec.written;
  for (auto [i, joined] : llvm::enumerate(spec.joined)) {
    Pairs results(eights, Regs(2));
    std::vector<unsigned> extras; // of each input
    for (int source : joined.sources)
      extras.push_back(source < 0 ? extra++ : 0);
    for (unsigned j = 0; j < eights; ++j) {
      std::vector<Regs> inputs;
      for (auto [x, source] : llvm::zip(extras, joined.sources))
        inputs.push_back(source < 0 ? inputOf(x, j, row) : parts[source][j]);
      for (unsigned e : {0, 1}) {
        Regs arguments;
        for (const Regs &two : inputs)
          arguments.push_back(two[e]);
        if (i == 0)
          arguments[0] = (arguments[0] - factors.mean) * factors.scale;
        results[j][e] = regions[i].apply(arguments);
      }
    }
    if (joined.written)
      store(out++, results, row);
    parts.push_back(results);
  }
}

// Statistics of the next row go to the other place, so that one barrier is
// enough: who writes there has passed the one behind which it was read.
void NormBehind::normRow(Reg row, Reg place) {
  Pairs sums = readSums(row);
  ChunkNorm::Factors factors = factorsOf(sums, place);
  if (exists)
    b.ifThen(exists, [&] { finish(sums, factors, row); });
  else
    finish(sums, factors, row);
}

Kernel NormBehind::write() {
  b.admitNextKernel();
  b.waitForEarlierKernels();
  Reg index = b.threadIndex(), thread = index % int(rowThreads);
  slot = index / int(rowThreads);
  lane = thread % 4;
  number = thread / 4;
  if (rowThreads != 4 * chunks) {
    exists = lt(number, int(chunks));
    number = b.select(exists, number, b.constant(0));
  }
  first = number * int(chunk) + lane * 2;
  Reg count = b.argument(rows);
  direct.begin(b, count);
  readColumns();
  Reg stride = b.blockCount() * int(together);
  b.loop(
      {b.blockIndex() * int(together) + slot, b.constant(0)},
      [&](const Regs &now) { return lt(now[0], count); },
      [&](const Regs &now) -> Regs {
        normRow(now[0], now[1]);
        return {now[0] + stride, now[1] ^ 1};
      });
  return {b.finish(), launch};
}

//===-- Both --------------------------------------------------------------===//

std::optional<KernelSpec> productBehindNorm(const KernelSpec &spec) {
  const int out = outOfSums(spec);
  if (out < 0)
    return std::nullopt;
  for (const JoinedRows &joined : spec.joined)
    for (auto [source, input] : llvm::zip(joined.sources, joined.rows.inputs))
      if (source < 0 && input.reading == Reading::element)
        return std::nullopt;
  KernelSpec product = spec;
  product.joined.clear();
  product.out = spec.outs()[out];
  product.written = true;
  return product;
}

double normCycles(const KernelSpec &spec, int64_t rows) {
  // Of an H200 at work: 4 TB/s at 1.6 GHz, and what a launch takes.
  constexpr double bytesOfCycle = 2500, launch = 2500;
  double bytes = 4;
  const std::vector<BufferSpec> outs = spec.outs();
  for (unsigned i = spec.written; i < outs.size(); ++i)
    bytes += double(bytesOf(outs[i].element));
  return launch + bytes * double(rows * spec.matmul.columns) / bytesOfCycle;
}

Kernel writeProductThenNorm(mlir::MLIRContext &context, const KernelSpec &spec,
                            const MatmulTile &tile, const std::string &entry) {
  const KernelSpec product = *productBehindNorm(spec);
  Kernel kernel = writeMatmul(context, product, tile, entry);
  // Its out is another buffer of the op than of a product alone.
  const uint32_t own = firstOut(product),
                 out = firstOut(withAllExtras(spec)) + outOfSums(spec);
  for (mille_launch_argument &argument : kernel.launch.arguments)
    if ((argument.kind == MILLE_ARGUMENT_ADDRESS ||
         argument.kind == MILLE_ARGUMENT_TENSOR) &&
        argument.number == own)
      argument.number = out;
  kernel.then = std::make_unique<Kernel>(
      NormBehind(context, spec, entry + "_norm").write());
  return kernel;
}

} // namespace mille::nvvm
