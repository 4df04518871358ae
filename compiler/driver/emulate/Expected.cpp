// What matmul, rows and rotate compute, in double. Must not know kernels.
#include "compiler/driver/emulate/Expected.h"
#include "compiler/driver/emulate/ExpectedAttention.h"
#include "compiler/driver/emulate/ExpectedBytes.h"
#include "compiler/interpret/Numbers.h"
#include "compiler/interpret/ScalarRegion.h"
#include "compiler/kernels/Describe.h"
#include "dialects/kernel/Joined.h"

#include <numeric>

using namespace mille;
using namespace mille::emulated;
using namespace mille::interpreter;

// ---- operands

namespace {
class Drawer {
public:
  Drawer(const Sizes &sizes, std::vector<Operand> &into)
      : sizes(sizes), into(into), random(7) {}

  void add(const char *name, const BufferSpec &spec, int64_t rows,
           Drawn what = Drawn::numbers, int64_t entries = 1) {
    Operand operand;
    operand.name = name;
    operand.spec = spec;
    operand.rows = rows;
    operand.weights = what == Drawn::weights || what == Drawn::realWeights ||
                      what == Drawn::signedBytes;
    draw(operand, what, entries, random);
    into.push_back(std::move(operand));
  }
  // The sums of the rows of the weight, which is the last operand but one.
  void addSums(int64_t rows) {
    const Operand &weight = into[into.size() - 2];
    const int64_t columns = weight.spec.columns;
    Operand sums;
    sums.name = "sums";
    sums.spec = {2, 1, -1, 1, Reading::element, Element::i32};
    sums.rows = rows;
    sums.weights = true;
    for (auto row = weight.numbers.begin(); row != weight.numbers.end();
         row += columns)
      sums.numbers.push_back(std::accumulate(row, row + columns, 0.0));
    into.push_back(std::move(sums));
  }
  // A row of the last two operands.
  void fillRow(int64_t row, double number) {
    for (Operand *of : {&into[into.size() - 2], &into.back()})
      std::fill_n(of->numbers.begin() + row * of->spec.columns,
                  of->spec.columns, number);
  }
  // An operand that is read at out[m, n].
  void addRead(const char *name, const BufferSpec &spec) {
    bool byRow =
        spec.reading == Reading::element || spec.reading == Reading::row;
    add(name, spec, byRow ? sizes.rows : std::max<int64_t>(spec.rows, 1));
  }

  const Sizes &sizes;

private:
  std::vector<Operand> &into;
  std::mt19937 random;
};
} // namespace

static std::string drawMatmul(const MatmulSpec &m, Drawer &drawer) {
  if (m.panel || m.ofBlocks())
    return "a matmul with packed weights or blocks";
  const bool real = m.input.element == Element::f32;
  drawer.add("input", m.input, drawer.sizes.rows,
             m.ofBytes() ? Drawn::bytes
             : real      ? Drawn::reals
                         : Drawn::numbers);
  BufferSpec weight = {
      2,       m.inner,          -1,
      m.inner, Reading::element, m.ofBytes() ? Element::i8 : m.input.element};
  const int64_t weightRows =
      m.columns * m.accumulators * std::max<int64_t>(m.experts, 1);
  drawer.add("weight", weight, weightRows,
             m.ofBytes() ? Drawn::signedBytes
             : real      ? Drawn::realWeights
                         : Drawn::weights);
  if (m.ofBytes()) {
    drawer.add("parameters", m.parameters, drawer.sizes.rows,
               Drawn::byteParameters, m.inner);
    drawer.addSums(weightRows);
  }
  for (const BufferSpec &extra : m.extras)
    drawer.addRead("extra", extra);
  return "";
}

static void drawRows(const RowsSpec &r, Drawer &drawer) {
  constexpr int64_t entries = 37; // of a table
  for (size_t i = 0; i < r.inputs.size(); ++i)
    if (r.gather[i] >= 0)
      drawer.add("table", r.inputs[i],
                 r.inputs[i].rows > 0 ? r.inputs[i].rows : entries);
    else
      drawer.addRead("input", r.inputs[i]);
  BufferSpec index = {1, 1, -1, 0, Reading::row, Element::i32};
  for (int i = 0; i < r.indices; ++i) {
    int64_t least = entries;
    for (size_t k = 0; k < r.inputs.size(); ++k)
      if (r.gather[k] == i && r.inputs[k].rows > 0)
        least = std::min(least, r.inputs[k].rows);
    drawer.add("indices", index, drawer.sizes.rows, Drawn::indices, least);
  }
}

static std::string drawAttention(const AttentionSpec &a, Drawer &drawer) {
  const Sizes &sizes = drawer.sizes;
  if (a.decay)
    return "attention with a decay";
  int64_t keyRows = sizes.sequences * sizes.keys;
  const Drawn what =
      a.query.element == Element::f32 ? Drawn::reals : Drawn::numbers;
  drawer.add("query", a.query, sizes.rows, what);
  drawer.add("key", a.key, keyRows, what);
  drawer.add("value", a.value, keyRows, what);
  // What a state has behind its rows may be anything.
  for (int64_t row = 0; a.past && row < keyRows; ++row)
    if (row % sizes.keys >= keysOf(a, sizes, row / sizes.keys))
      drawer.fillRow(row, NAN);
  using Operand = AttentionOperand;
  auto add = [&](Operand which, const char *name, int64_t rows,
                 Drawn what = Drawn::numbers) {
    if (a.has(which))
      drawer.add(name, *a[which], a[which]->rows > 0 ? a[which]->rows : rows,
                 what);
  };
  add(Operand::keyMask, "key mask", keyRows, Drawn::flags);
  add(Operand::keyHeadBias, "key head bias", keyRows);
  add(Operand::rotation, "rotation", std::max(keyRows, sizes.rows),
      Drawn::angles);
  add(Operand::queryScale, "query scale", sizes.rows);
  add(Operand::headScale, "head scale", 1);
  add(Operand::sink, "sink", 1);
  add(Operand::bias, "bias", a.heads);
  add(Operand::contentQuery, "content query", sizes.rows);
  add(Operand::contentKey, "content key", keyRows);
  add(Operand::segments, "segments", keyRows, Drawn::segments);
  add(Operand::prefix, "prefix", sizes.sequences, Drawn::segments);
  return "";
}

std::vector<BufferSpec> mille::emulated::outsOf(const KernelSpec &spec) {
  if (spec.kind == KernelKind::quantize)
    return {spec.quantize.values, spec.out};
  return spec.outs();
}

std::vector<Operand> mille::emulated::operandsOf(mlir::Operation *op,
                                                 const KernelSpec &spec,
                                                 const Sizes &sizes,
                                                 std::string &problem) {
  std::vector<Operand> operands;
  Drawer drawer(sizes, operands);
  switch (spec.kind) {
  case KernelKind::matmul:
    problem = drawMatmul(spec.matmul, drawer);
    break;
  case KernelKind::rows:
    drawRows(spec.rows, drawer);
    break;
  case KernelKind::attention:
    problem = drawAttention(spec.attention, drawer);
    break;
  case KernelKind::quantize:
    if (spec.quantize.inBlocks())
      problem = "bytes in blocks";
    drawer.add("input", spec.quantize.input, sizes.rows);
    break;
  case KernelKind::rotate:
    drawer.add("input", spec.rotate.input, sizes.rows);
    drawer.add("rotation", spec.rotate.rotation, sizes.rows, Drawn::angles);
    break;
  default:
    problem = op->getName().getStringRef().str();
  }
  if (!problem.empty()) {
    problem += " has no reference here";
    return {};
  }
  for (const JoinedRows &joined : spec.joined)
    for (size_t i = 0; i < joined.sources.size(); ++i)
      if (joined.sources[i] < 0)
        drawer.addRead("joined input", joined.rows.inputs[i]);
  for (const BufferSpec &out : outsOf(spec))
    drawer.add("out", out, sizes.rows);
  return operands;
}

// ---- meanings

// Row `row` of an operand that is read at out[row, n], as `columns` numbers.
static std::vector<double> rowOf(const Operand &operand, int64_t row,
                                 int64_t columns) {
  std::vector<double> numbers(columns);
  for (int64_t n = 0; n < columns; ++n)
    switch (operand.spec.reading) {
    case Reading::element:
      numbers[n] = operand.at(row, n);
      break;
    case Reading::column:
      numbers[n] = operand.at(operand.rows > 1 ? row : 0, n);
      break;
    case Reading::row:
      numbers[n] = operand.at(row, 0);
      break;
    case Reading::scalar:
      numbers[n] = operand.at(0, 0);
      break;
    }
  return numbers;
}

static void runRegion(
    mlir::Operation *op, Operand &out,
    llvm::function_ref<std::vector<std::vector<double>>(int64_t)> argumentsOf) {
  ScalarRegion region;
  region.read(op->getRegion(0));
  for (int64_t row = 0; row < out.rows; ++row) {
    std::vector<std::vector<double>> arguments = argumentsOf(row);
    std::vector<const double *> pointers;
    for (const std::vector<double> &argument : arguments)
      pointers.push_back(argument.data());
    region.run(pointers, out.spec.columns,
               &out.numbers[row * out.spec.columns]);
  }
}

std::vector<int64_t> mille::emulated::startsOf(const MatmulSpec &m,
                                               int64_t rows) {
  std::vector<int64_t> starts{0};
  int64_t sum = 0, all = 0;
  auto share = [](int64_t e) { return (7 * e + 3) % 5; };
  for (int64_t e = 0; e < m.experts; ++e)
    all += share(e);
  for (int64_t e = 0; e < m.experts; ++e) {
    sum += share(e);
    starts.push_back(rows * sum / all);
  }
  return starts;
}

static void computeMatmul(mlir::Operation *op, const MatmulSpec &m,
                          std::vector<Operand> &operands) {
  const Operand &input = operands[0], &weight = operands[1];
  const std::vector<double> inputRows = rowsOf(m, operands);
  Operand &out = operands.back();
  const int64_t both = m.columns * m.accumulators;
  std::vector<double> sums(input.rows * both);
  std::vector<int64_t> starts{0, input.rows};
  if (m.experts)
    starts = startsOf(m, input.rows);
  std::vector<int64_t> entryOf(input.rows);
  for (size_t e = 0; e + 1 < starts.size(); ++e) {
    const int64_t first = starts[e], rows = starts[e + 1] - first;
    if (rows)
      product(&inputRows[first * m.inner], &weight.numbers[e * both * m.inner],
              &sums[first * both], rows, m.inner, both);
    std::fill_n(entryOf.begin() + first, rows, e);
  }
  runRegion(op, out, [&](int64_t row) {
    std::vector<std::vector<double>> arguments;
    for (int a = 0; a < m.accumulators; ++a) {
      auto first = sums.begin() + row * both + a * m.columns;
      arguments.emplace_back(first, first + m.columns);
    }
    for (size_t i = 0; i < m.extras.size(); ++i) {
      const Operand &extra = operands[buffersBeforeExtras(m) + i];
      const bool byExpert =
          m.extras[i].reading == Reading::column && extra.rows > 1;
      arguments.push_back(
          rowOf(extra, byExpert ? entryOf[row] : row, m.columns));
    }
    return arguments;
  });
}

static void computeRows(mlir::Operation *op, const RowsSpec &r,
                        std::vector<Operand> &operands) {
  auto norm = llvm::cast<kernel::RowsOp>(op).getNormAttr();
  const int64_t group = r.group ? r.group : r.columns;
  runRegion(op, operands.back(), [&](int64_t row) {
    std::vector<std::vector<double>> arguments;
    for (size_t i = 0; i < r.inputs.size(); ++i) {
      int64_t from = row;
      if (r.gather[i] >= 0)
        from = int64_t(operands[r.inputs.size() + r.gather[i]].at(row, 0));
      arguments.push_back(rowOf(operands[i], from, r.columns));
    }
    for (int64_t first = 0; norm && first < r.columns; first += group)
      normRow(norm.getKind(), norm.getEps(), &arguments[0][first], group);
    return arguments;
  });
}

static void computeRotate(const RotateSpec &r, std::vector<Operand> &operands) {
  Operand &out = operands[2];
  for (int64_t row = 0; row < out.rows; ++row)
    for (int64_t column = 0; column < out.spec.columns; ++column)
      out.numbers[row * out.spec.columns + column] =
          operands[0].at(row, column);
  turnHeads({r.rotation.columns / 2, operands[1].numbers}, out.numbers.data(),
            out.rows, r.heads, r.headDim, r.start, !r.interleaved);
}

static void computeOne(mlir::Operation *op, const KernelSpec &spec,
                       const Sizes &sizes, std::vector<Operand> &operands) {
  switch (spec.kind) {
  case KernelKind::matmul:
    return computeMatmul(op, spec.matmul, operands);
  case KernelKind::rows:
    return computeRows(op, spec.rows, operands);
  case KernelKind::quantize:
    return computeBytes(operands);
  case KernelKind::rotate:
    return computeRotate(spec.rotate, operands);
  default:
    computeAttention(op, spec.attention, sizes, operands);
  }
}

// Each op of the kernel in turn, on what those before it gave.
void mille::emulated::compute(mlir::Operation *op, const KernelSpec &spec,
                              const Sizes &sizes,
                              std::vector<Operand> &operands) {
  if (spec.joined.empty())
    return computeOne(op, spec, sizes, operands);
  size_t next =
      spec.kind == KernelKind::matmul
          ? buffersBeforeExtras(spec.matmul) + spec.matmul.extras.size()
          : spec.rows.inputs.size() + spec.rows.indices;
  std::vector<Operand> results;
  std::vector<Operand> own(operands.begin(), operands.begin() + next);
  auto finish = [&](const BufferSpec &out, auto computed) {
    Operand &result = own.emplace_back();
    result.spec = out;
    result.rows = sizes.rows;
    result.numbers.resize(sizes.rows * out.columns);
    computed();
    results.push_back(own.back());
  };
  finish(spec.out, [&] { computeOne(op, spec, sizes, own); });
  auto ops = kernel::joinedTo(op);
  for (size_t j = 0; j < ops.size(); ++j) {
    const JoinedRows &joined = spec.joined[j];
    own.clear();
    for (int source : joined.sources)
      own.push_back(source < 0 ? operands[next++] : results[source]);
    finish(joined.out, [&] { computeRows(ops[j], joined.rows, own); });
  }
  for (size_t i = 0; i < results.size(); ++i)
    if (i ? spec.joined[i - 1].written : spec.written)
      operands[next++].numbers = results[i].numbers;
}
