// Runs matmuls of Hopper in the emulator, each kernel op of a file with some
// numbers of rows, and compares every element with sums in double.
//
//   emulated-matmuls FILE TILE SEEDS[,all] ROWS...
//
// all: with the waits, releases, fences and barriers left out one by one, each
// of which must be noticed.
#include "compiler/emulate/Trials.h"
#include "test/compiler/nvvm/Inputs/Kernels.h"

#include "llvm/Support/Format.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace mille;
using namespace mille::test;

namespace {

// Numbers that have few bits, so that bf16 holds them and sums are near exact.
class Numbers {
public:
  explicit Numbers(uint64_t seed) : state(seed * 2 + 1) {}
  double next(int halfRange, double unit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t((state >> 33) % (2 * halfRange + 1)) - halfRange) * unit;
  }

private:
  uint64_t state;
};

// A buffer with rows that may be apart; what lies between is not a number.
struct Rows {
  BufferSpec spec;
  int64_t count;
  emulate::Buffer buffer;

  Rows(const std::string &name, const BufferSpec &spec, int64_t count)
      : spec(spec), count(count) {
    buffer.name = name;
    buffer.elementBytes = bytesOf(spec.element);
    const int64_t stride = count > 1 ? spec.rowStride : spec.columns;
    buffer.bytes.assign(((count - 1) * stride + spec.columns) *
                            buffer.elementBytes,
                        char(0xff));
  }
  char *place(int64_t row, int64_t column) {
    return buffer.bytes.data() +
           (row * spec.rowStride + column) * buffer.elementBytes;
  }
  double get(int64_t row, int64_t column) {
    uint32_t word = 0;
    float value;
    memcpy(reinterpret_cast<char *>(&word) + 4 - buffer.elementBytes,
           place(row, column), buffer.elementBytes);
    memcpy(&value, &word, 4);
    return value;
  }
  void set(int64_t row, int64_t column, double number) {
    float value = float(number);
    uint32_t word;
    memcpy(&word, &value, 4);
    memcpy(place(row, column),
           reinterpret_cast<char *>(&word) + 4 - buffer.elementBytes,
           buffer.elementBytes);
  }
  void fill(Numbers &numbers, int halfRange, double unit) {
    for (int64_t r = 0; r < count; ++r)
      for (int64_t c = 0; c < spec.columns; ++c)
        set(r, c, numbers.next(halfRange, unit));
  }
};

double stepOf(const ScalarStep &s, const std::vector<double> &values) {
  auto at = [&](int i) { return values[s.operands[i]]; };
  switch (s.op) {
  case ScalarOp::constant:
    return s.value;
  case ScalarOp::add:
    return at(0) + at(1);
  case ScalarOp::sub:
    return at(0) - at(1);
  case ScalarOp::mul:
    return at(0) * at(1);
  case ScalarOp::div:
    return at(0) / at(1);
  case ScalarOp::neg:
    return -at(0);
  case ScalarOp::maximum:
  case ScalarOp::maxnum:
    return std::fmax(at(0), at(1));
  case ScalarOp::minimum:
  case ScalarOp::minnum:
    return std::fmin(at(0), at(1));
  case ScalarOp::compare:
    return s.comparison == Comparison::gt ? at(0) > at(1) : at(0) < at(1);
  case ScalarOp::select:
    return at(0) ? at(1) : at(2);
  case ScalarOp::exp:
    return std::exp(at(0));
  case ScalarOp::exp2:
    return std::exp2(at(0));
  case ScalarOp::tanh:
    return std::tanh(at(0));
  case ScalarOp::erf:
    return std::erf(at(0));
  case ScalarOp::erfc:
    return std::erfc(at(0));
  case ScalarOp::sqrt:
    return std::sqrt(at(0));
  case ScalarOp::rsqrt:
    return 1 / std::sqrt(at(0));
  case ScalarOp::abs:
    return std::fabs(at(0));
  case ScalarOp::log:
    return std::log(at(0));
  case ScalarOp::sin:
    return std::sin(at(0));
  case ScalarOp::cos:
    return std::cos(at(0));
  case ScalarOp::fma:
    return at(0) * at(1) + at(2);
  }
  return NAN;
}

struct Case {
  const KernelSpec &spec;
  const MatmulSpec &m;
  int64_t rows;
  Rows input, weight, out;
  std::vector<Rows> extras;

  Case(const KernelSpec &spec, int64_t rows)
      : spec(spec), m(spec.matmul), rows(rows), input("input", m.input, rows),
        weight("weight",
               {2, m.inner, -1, m.inner, Reading::element, Element::bf16},
               m.columns * m.accumulators),
        out("out", spec.out, rows) {
    out.buffer.written = false;
    Numbers numbers(rows);
    input.fill(numbers, 16, 1 / 16.);
    weight.fill(numbers, 14, 1 / 64.);
    for (const BufferSpec &extra : m.extras) {
      const bool byRow =
          extra.reading == Reading::element || extra.reading == Reading::row;
      extras.emplace_back("extra", extra, byRow ? rows : 1);
      extras.back().fill(numbers, 20, 1 / 8.);
    }
  }

  double expected(int64_t r, int64_t c) {
    std::vector<double> values;
    for (int a = 0; a < m.accumulators; ++a) {
      double sum = 0;
      for (int64_t k = 0; k < m.inner; ++k)
        sum += input.get(r, k) * weight.get(a * m.columns + c, k);
      values.push_back(sum);
    }
    for (Rows &extra : extras) {
      const Reading reading = extra.spec.reading;
      const bool byRow = reading == Reading::element || reading == Reading::row;
      const bool byColumn =
          reading == Reading::element || reading == Reading::column;
      values.push_back(extra.get(byRow ? r : 0, byColumn ? c : 0));
    }
    for (const ScalarStep &step : m.epilogue.steps)
      values.push_back(stepOf(step, values));
    return values[m.epilogue.result];
  }

  // Every element of the out.
  std::vector<double> allExpected() {
    std::vector<double> all;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < m.columns; ++c)
        all.push_back(expected(r, c));
    return all;
  }
};

// Judges results by the last place of the out's type.
class Judgement {
public:
  explicit Judgement(Case &data) : data(data), right(data.allExpected()) {}
  std::string operator()(const std::vector<emulate::Buffer> &buffers) {
    Rows out = data.out;
    out.buffer.bytes = buffers.back().bytes;
    const double unit = isBf16(out.spec.element) ? 1 / 256. : 1e-5;
    const int64_t columns = data.m.columns;
    for (size_t i = 0; i < right.size(); ++i) {
      const double value = out.get(i / columns, i % columns);
      const double error =
          std::fabs(value - right[i]) / (unit * (1 + std::fabs(right[i])));
      if (!(error <= 1))
        return "row " + std::to_string(i / columns) + ", column " +
               std::to_string(i % columns) + " is " + std::to_string(value) +
               " but must be " + std::to_string(right[i]);
      largest = std::max(largest, error);
    }
    return "";
  }
  double largest = 0;

private:
  Case &data;
  std::vector<double> right;
};

bool runs(const emulate::Kernel &kernel, const KernelSpec &spec, int64_t rows,
          const emulate::Trials &trials) {
  Case data(spec, rows);
  Judgement judge(data);
  std::vector<emulate::Buffer> buffers{data.input.buffer, data.weight.buffer};
  for (Rows &extra : data.extras)
    buffers.push_back(extra.buffer);
  buffers.push_back(data.out.buffer);
  emulate::LaunchCase launch;
  launch.counts[1] = launch.counts[3] = rows;
  Status status = emulate::run(
      kernel, launch, buffers, trials,
      [&](const auto &results) { return judge(results); }, llvm::outs());
  llvm::outs() << rows << " rows: largest error "
               << llvm::format("%.2g", judge.largest) << " units\n";
  return !failed(status);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 5)
    return 2;
  int failures = 0;
  emulate::Trials trials;
  trials.seeds = atoi(argv[3]);
  if (strstr(argv[3], ",all"))
    trials.leftOut = "all";
  bool read = eachMatmul(
      argv[1], [&](mlir::MLIRContext &context, const KernelSpec &spec) {
        nvvm::Kernel written = writeWithTile(context, spec, argv[2]);
        std::string problem;
        auto kernel =
            emulate::Kernel::make(kernelsOf(*written.module),
                                  nvvm::descriptionOf(written.launch), problem);
        if (!kernel) {
          llvm::outs() << "no kernel: " << problem << "\n";
          ++failures;
          return;
        }
        for (int i = 4; i < argc; ++i)
          failures += !runs(*kernel, spec, atoi(argv[i]), trials);
      });
  llvm::outs() << failures << " failed\n";
  return !read || failures;
}
