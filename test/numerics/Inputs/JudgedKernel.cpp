// Runs one kernel op both ways. Must cut buffers as runtime/abi.h says, and
// give the interpreter the very numbers that the kernel had.
#include "test/numerics/Inputs/JudgedKernel.h"

#include "compiler/interpret/Run.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/compiler/halide/Inputs/EntryText.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace mille;
using namespace mille::test;

namespace {

// To nearest, ties to even.
uint16_t halfOf(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if (std::isnan(x))
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace

uint16_t *
Operand::half() const { // where they are odd one lies before the first
  return reinterpret_cast<uint16_t *>(halves->data()) + data.size() % 2;
}

std::string Operand::type() const {
  auto number = [](int64_t value) { return std::to_string(value); };
  if (integer)
    return "memref<?xi32>";
  if (!rows)
    return "memref<" + number(columns) + "xf32>";
  std::string type = "memref<" + (fixed ? number(rows) : "?") + "x" +
                     number(columns) + (halves ? "xbf16" : "xf32");
  return stride == columns ? type + ">"
                           : type + ", strided<[" + number(stride) + ", 1]>>";
}

Operand &JudgedKernel::add(Operand operand) {
  operands.push_back(std::move(operand));
  Operand &added = operands.back();
  for (size_t i = 0; i < added.data.size(); ++i)
    if (added.integer)
      added.number(i) = 0;
    else if (!added.stride || int64_t(i) % added.stride < added.columns)
      added.data[i] = float(draw());
  return added;
}
Operand &JudgedKernel::rows(const char *name, int64_t rows, int64_t columns) {
  int64_t stride = columns == 1 ? 1 : (columns + 15) / 16 * 16 + 16;
  return add({name, rows, columns, stride, false, false,
              Guarded((rows - 1) * stride + columns, side), nullptr});
}
Operand &JudgedKernel::fixed(const char *name, int64_t rows, int64_t columns) {
  return add({name, rows, columns, columns, false, true,
              Guarded(std::max<int64_t>(rows, 1) * columns, side), nullptr});
}
Operand &JudgedKernel::integers(const char *name, int64_t count) {
  return add({name, 0, count, 0, true, false, Guarded(count, side), nullptr});
}
void JudgedKernel::narrow(const char *name) {
  for (Operand &operand : operands) {
    if (operand.name != name)
      continue;
    operand.halves = std::make_shared<Guarded>((operand.data.size() + 1) / 2);
    for (size_t i = 0; i < operand.data.size(); ++i) {
      operand.half()[i] = halfOf(operand.data[i]);
      uint32_t bits = uint32_t(operand.half()[i]) << 16;
      memcpy(&operand.data[i], &bits, 4);
    }
  }
}

void JudgedKernel::out(int64_t rows, int64_t columns) {
  this->rows("out", rows, columns);
}

std::string JudgedKernel::text() const {
  const EntryText entry{mostKeys};
  std::string text = "func.func @f(", body = line;
  for (const Scalar &scalar : scalars)
    text += "%" + scalar.name + ": index" + entry.size(scalar.name) + ", ";
  for (const Operand &operand : operands) {
    const bool isOut = &operand == &operands.back();
    text += "%" + operand.name + ": " + operand.type() +
            (isOut ? entry.output(operand.name) + ") {\n "
                   : entry.input(operand.name) + ", ");
    std::string mark = "{" + operand.name + "}";
    for (size_t at; (at = body.find(mark)) != std::string::npos;)
      body.replace(at, mark.size(), operand.type());
  }
  text += body + "\n return\n}\n";
  return entry.around(text, "n");
}

//===-- The interpreter
//-------------------------------------------------------//

std::vector<double> JudgedKernel::judge(ParsedKernel &parsed) const {
  using namespace mille::interpreter;
  ParameterValues none(*parsed.module, "");
  Run run(none);
  auto function = parsed.op->getParentOfType<mlir::func::FuncOp>();
  size_t argument = 0;
  for (const Scalar &scalar : scalars)
    run.set(function.getArgument(argument++),
            {{1}, {double(scalar.value)}, true});
  for (const Operand &operand : operands) {
    Tensor tensor = zeros({operand.columns});
    if (operand.rows)
      tensor = zeros({operand.rows, operand.columns});
    tensor.integer = operand.integer;
    for (size_t i = 0; i < tensor.numbers.size(); ++i)
      tensor.numbers[i] = operand.integer ? operand.number(i)
                                          : operand.at(i / operand.columns,
                                                       i % operand.columns);
    run.set(function.getArgument(argument++), std::move(tensor));
  }
  Status status =
      llvm::TypeSwitch<mlir::Operation *, Status>(parsed.op)
          .Case<kernel::AttentionOp, kernel::LinearAttentionOp,
                kernel::RotateOp, kernel::RowsOp, kernel::DispatchOp,
                kernel::CombineOp>([&](auto op) { return runOp(run, op); })
          .Default([](mlir::Operation *) { return Status::bug; });
  if (failed(status)) {
    printf("%s: the interpreter refuses\n", name.c_str());
    return {};
  }
  return run.at(mlir::Value()).numbers; // on memrefs there is no result
}

//===-- The kernel
//------------------------------------------------------------//

// row: its row dimension, or -1 where the kernel gets it whole.
Argument JudgedKernel::argumentOf(const Operand &operand, int row,
                                  const Cut &cut) const {
  bool out = &operand == &operands.back();
  int64_t rowStride = operand.rows ? operand.stride : 1;
  int64_t count = operand.rows ? operand.rows : operand.columns;
  int64_t first = 0, extent = count, min = 0;
  if (row >= 0 && !tokens) {
    first = cut.row0;
    extent = cut.row1 - cut.row0;
  } else if (row >= 0 && out) {
    first = cut.sequence * tokens + cut.row0;
    extent = cut.row1 - cut.row0;
    min = cut.row0;
  } else if (row >= 0) {
    int64_t own = count / (operands.back().rows / tokens); // of a sequence
    first = cut.sequence * own;
    extent =
        own + 8; // named as readable, but guarded here where there is nothing
  }
  const int64_t bytes = operand.halves ? 2 : 4;
  char *start = operand.halves ? reinterpret_cast<char *>(operand.half())
                               : reinterpret_cast<char *>(operand.data.data());
  Argument argument{start + first * rowStride * bytes, {}};
  mille_dimension rows{int32_t(min), int32_t(extent), int32_t(rowStride), 0};
  if (!operand.rows) {
    if (row < 0)
      rows = {0, int32_t(operand.columns), 1, 0};
    argument.dimensions = {rows};
    return argument;
  }
  argument.dimensions = {{0, int32_t(operand.columns), 1, 0}, rows};
  if (!out)
    return argument;
  auto *host = static_cast<char *>(argument.host);
  int64_t width = cut.column1 - cut.column0;
  if (tokens) {
    int64_t size = operand.columns / heads;
    argument.dimensions[0].extent = int32_t(size);
    argument.dimensions.push_back(
        {int32_t(cut.column0), int32_t(width), int32_t(size), 0});
    argument.host = host + cut.column0 * size * bytes;
  } else {
    argument.dimensions[0].min = int32_t(cut.column0);
    argument.dimensions[0].extent = int32_t(width);
    argument.host = host + cut.column0 * bytes;
  }
  return argument;
}

int32_t JudgedKernel::run(const ParsedKernel &parsed,
                          mille_kernel_function kernel, const Cut &cut) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < operands.size(); ++i)
    arguments.push_back(
        argumentOf(operands[i], parsed.info.rowDimension[i], cut));
  Argument out = arguments.back();
  arguments.pop_back();
  std::vector<int32_t> values;
  for (const Scalar &scalar : scalars)
    values.push_back(int32_t(scalar.value));
  return call(kernel, arguments, values, out);
}

// As one task for each sequence, or in many.
void JudgedKernel::runCut(const ParsedKernel &parsed,
                          mille_kernel_function kernel, bool whole) {
  const Operand &out = operands.back();
  int64_t rows = tokens ? tokens : out.rows, sequences = out.rows / rows;
  int64_t columns = tokens ? heads : out.columns;
  int64_t unit = std::min<int64_t>(parsed.info.columnUnit, columns);
  bool cutsRows = !whole && parsed.info.rowUnit <= 64;
  for (int64_t s = 0; s < sequences; ++s)
    for (int64_t n = 0; n < columns; n += whole ? columns : unit)
      for (int64_t m = 0; m < rows;) {
        int64_t step = cutsRows ? 1 + m % 37 : rows;
        Cut cut{s, m, std::min(rows, m + step), n,
                whole ? columns : std::min(columns, n + unit)};
        if (run(parsed, kernel, cut) != 0) {
          ++failures;
          printf("%s: the kernel fails\n", name.c_str());
        }
        m += step;
      }
}

// Then the out holds only what the kernel has written.
void JudgedKernel::runInto(const ParsedKernel &parsed,
                           mille_kernel_function kernel, bool whole) {
  const Operand &out = operands.back();
  const uint32_t untouched = Guarded::poison();
  const uint16_t untouchedHalf = 0xdead;
  for (size_t i = 0; i < out.data.size(); ++i) {
    memcpy(&out.data[i], &untouched, 4);
    if (out.halves)
      out.half()[i] = untouchedHalf;
  }
  runCut(parsed, kernel, whole);
  for (size_t i = 0; out.halves && i < out.data.size(); ++i) {
    uint32_t bits = uint32_t(out.half()[i]) << 16;
    if (out.half()[i] != untouchedHalf)
      memcpy(&out.data[i], &bits, 4);
  }
}

void JudgedKernel::expect(bool holds, const Target &isa,
                          const std::string &what) {
  if (holds)
    return;
  ++failures;
  printf("%s %s rows %ld: %s\n", name.c_str(), isa.name.c_str(),
         long(operands.back().rows), what.c_str());
}

// The root of the mean square of the numbers that a head writes to a row. Where
// values are random around 0, it is that of the sum of (weight * value)^2, by
// which roundings of weights count.
double JudgedKernel::sizeOfHead(const std::vector<double> &expected,
                                int64_t row, int64_t column) const {
  const int64_t columns = operands.back().columns, width = columns / heads;
  const int64_t first = row * columns + column / width * width;
  double squares = 0;
  for (int64_t i = first; i < first + width; ++i)
    squares += std::isnan(expected[i]) ? 0 : expected[i] * expected[i];
  return std::sqrt(squares / double(width));
}

bool JudgedKernel::isFiniteHead(const std::vector<double> &expected,
                                int64_t row, int64_t column) const {
  const int64_t columns = operands.back().columns, width = columns / heads;
  const int64_t first = row * columns + column / width * width;
  return llvm::all_of(llvm::ArrayRef(expected).slice(first, width),
                      [](double x) { return std::isfinite(x); });
}

// What is smaller than 1e-30 may be lost.
double JudgedKernel::sizeOfRow(const std::vector<double> &expected,
                               int64_t row) const {
  const int64_t columns = operands.back().columns;
  double size = 1e-30;
  for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
    if (std::isfinite(expected[i]))
      size = std::max(size, std::fabs(expected[i]));
  return size;
}

int JudgedKernel::check(const Target &isa, double bound, int64_t tokens,
                        int64_t keys, int64_t heads) {
  this->tokens = tokens;
  this->keys = keys;
  this->heads = heads;
  const auto &[parsedHere, kernel] = made(text(), isa);
  ParsedKernel &parsed = *parsedHere;
  const Operand &out = operands.back();
  std::vector<double> expected = judge(parsed);
  if (expected.empty())
    return 1;
  uint32_t untouched = Guarded::poison();
  resetScratch();
  runInto(parsed, kernel, true);
  uint64_t given =
      parsed.info.scratchBytes + parsed.info.scratchBytesPerToken * keys;
  expect(peakScratch() <= given, isa,
         "scratch " + std::to_string(peakScratch()) + " of " +
             std::to_string(given));
  double worst = 0;
  for (size_t i = 0; i < out.data.size(); ++i) {
    int64_t row = i / out.stride, column = i % out.stride;
    if (column >= out.columns) {
      expect(!memcmp(&out.data[i], &untouched, 4), isa, "padding written");
      continue;
    }
    double want = expected[row * out.columns + column];
    if (byRow && !std::isfinite(want))
      expect(spreadsInHead      ? !std::isfinite(out.data[i])
             : std::isnan(want) ? std::isnan(out.data[i])
                                : out.data[i] == want,
             isa,
             std::to_string(want) + " is " + std::to_string(out.data[i]) +
                 " at row " + std::to_string(row));
    if (std::isnan(want) || (byRow && std::isinf(want)))
      continue; // this row sees what is no number
    if (spreadsInHead && !std::isfinite(out.data[i]) &&
        !isFiniteHead(expected, row, column))
      continue;
    double error = std::fabs(out.data[i] - want);
    if (error != 0)
      error /= std::fabs(want) + (byRow    ? sizeOfRow(expected, row)
                                  : byHead ? sizeOfHead(expected, row, column)
                                           : 1.0);
    worst = error <= worst ? worst : std::isnan(error) ? INFINITY : error;
  }
  expect(worst < bound, isa, "error " + std::to_string(worst * 1e6) + "e-6");
  std::vector<float> first(out.data.data(), out.data.data() + out.data.size());
  runInto(parsed, kernel, false);
  bool same = true;
  for (size_t i = 0; i < first.size(); ++i) {
    int64_t row = i / out.stride, column = i % out.stride;
    if (column < out.columns &&
        !std::isnan(expected[row * out.columns + column]))
      same &= !memcmp(&first[i], &out.data[i], 4);
  }
  expect(same, isa, "bits differ between ranges");
  return failures;
}
