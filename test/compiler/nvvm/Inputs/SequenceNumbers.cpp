// Runs kernels of attention, of rows and of RoPE in the emulator, on random
// numbers, and compares with double.
//
//   sequence-numbers FILE FUNCTION SEQUENCES QUERIES KEYS FIRST [SEEDS [BREAK]]
#include "compiler/emulate/Trials.h"
#include "compiler/kernels/ReadSpec.h"
#include "compiler/nvvm/Attention.h"
#include "compiler/nvvm/Rotate.h"
#include "compiler/nvvm/Rows.h"
#include "dialects/kernel/OpList.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "test/compiler/nvvm/Inputs/InDouble.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

using namespace mille;
using namespace mille::test;
using llvm::outs;

namespace {

constexpr double relativeInBf16 = 1.5e-2, relativeInF32 = 2e-5;
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

void store(double number, Element element, char *to) {
  if (element == Element::i32) {
    const int32_t whole = int32_t(number);
    std::memcpy(to, &whole, 4);
    return;
  }
  const float real = float(number);
  uint32_t bits;
  std::memcpy(&bits, &real, 4);
  if (element == Element::bf16) // to nearest even; NaN stays NaN
    bits = std::isnan(real) ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  std::memcpy(to, &bits, bytesOf(element));
}

double load(Element element, const char *from) {
  if (element == Element::i32) {
    int32_t whole;
    std::memcpy(&whole, from, 4);
    return whole;
  }
  uint32_t bits = 0;
  std::memcpy(&bits, from, bytesOf(element));
  if (element == Element::bf16)
    bits <<= 16;
  float real;
  std::memcpy(&real, &bits, 4);
  return real;
}

class Trial {
public:
  Trial(const KernelSpec &spec, const Sizes &sizes) : spec(spec), z(sizes) {}

  std::vector<emulate::Buffer> buffers;
  std::vector<Numbers> numbers; // what the buffers hold

  void fillAttention();
  void fillRows();
  void fillRotate();
  std::string compare(const std::vector<emulate::Buffer> &results,
                      const Numbers &wanted);

private:
  // numbers(row, column) at rows of a buffer.
  void add(const std::string &name, const BufferSpec &of, int64_t rows,
           llvm::function_ref<double(int64_t, int64_t)> number);
  void addOut(int64_t rows);
  double normal() { return std::normal_distribution<double>()(random); }
  int whole(int below) { return int(random() % below); }
  void addOptional(AttentionOperand operand);
  void hideSomeKeys();

  const KernelSpec &spec;
  const Sizes &z;
  std::mt19937 random{7};
  double largest = 0;
};

void Trial::add(const std::string &name, const BufferSpec &of, int64_t rows,
                llvm::function_ref<double(int64_t, int64_t)> number) {
  const int64_t stride = of.rowStride ? of.rowStride : of.columns;
  const int64_t bytes = bytesOf(of.element);
  emulate::Buffer buffer;
  buffer.name = name;
  buffer.elementBytes = int(bytes);
  buffer.bytes.resize(rows * stride * bytes);
  Numbers all(rows * stride);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < of.columns; ++column) {
      char *place = &buffer.bytes[(row * stride + column) * bytes];
      store(number(row, column), of.element, place);
      all[row * stride + column] = load(of.element, place);
    }
  buffers.push_back(std::move(buffer));
  numbers.push_back(std::move(all));
}

void Trial::addOut(int64_t rows) {
  const int64_t bytes = bytesOf(spec.out.element);
  emulate::Buffer buffer;
  buffer.name = "out";
  buffer.elementBytes = int(bytes);
  buffer.bytes.resize(rows * spec.out.rowStride * bytes);
  buffer.written = false;
  buffers.push_back(std::move(buffer));
}

void Trial::addOptional(AttentionOperand operand) {
  const BufferSpec &of = *spec.attention[operand];
  const int64_t keyRows = z.sequences * z.keys,
                queryRows = z.sequences * z.queries;
  auto any = [&](int64_t, int64_t) { return normal(); };
  switch (operand) {
  case AttentionOperand::keyMask: // all of sequence 0, but for one key in 5
    return add("key_mask", of, keyRows, [&](int64_t row, int64_t) {
      return z.sequences > 1 && row >= keyRows - z.keys ? 0 : whole(5) > 0;
    });
  case AttentionOperand::rotation: {
    const int64_t n = of.columns / 2;
    std::vector<double> angles(std::max(keyRows, queryRows) * n);
    for (double &angle : angles)
      angle = normal() * 3;
    return add("rotation", of, std::max(keyRows, queryRows),
               [&](int64_t row, int64_t column) {
                 const double angle = angles[row * n + column % n];
                 return column < n ? std::cos(angle) : std::sin(angle);
               });
  }
  case AttentionOperand::segments:
    return add("segments", of, keyRows,
               [&](int64_t row, int64_t) { return row % z.keys * 3 / z.keys; });
  case AttentionOperand::prefix:
    return add("prefix", of, z.sequences,
               [&](int64_t row, int64_t) { return z.keys * (row + 1) / 3; });
  case AttentionOperand::keyHeadBias:
    return add("key_head_bias", of, keyRows, any);
  case AttentionOperand::queryScale:
    return add("query_scale", of, queryRows,
               [&](int64_t, int64_t) { return 1 + 0.5 * normal(); });
  default:
    return add("a table", of, of.rank == 2 ? of.rows : 1, any);
  }
}

// Keys that the mask hides, and their values, are not numbers.
void Trial::hideSomeKeys() {
  const AttentionSpec &s = spec.attention;
  if (!s.has(AttentionOperand::keyMask))
    return;
  for (int64_t row = 0; row < z.sequences * z.keys; ++row)
    if (numbers[3][row] == 0)
      for (size_t of : {1, 2}) {
        const BufferSpec &buffer = of == 1 ? s.key : s.value;
        const int64_t stride = buffer.rowStride;
        for (int64_t column = 0; column < stride; ++column)
          store(notANumber, buffer.element,
                &buffers[of]
                     .bytes[(row * stride + column) * bytesOf(buffer.element)]);
      }
}

void Trial::fillAttention() {
  const AttentionSpec &s = spec.attention;
  auto any = [&](int64_t, int64_t) { return normal(); };
  add("query", s.query, z.sequences * z.queries, any);
  add("key", s.key, z.sequences * z.keys, any);
  add("value", s.value, z.sequences * z.keys, any);
  for (int i = 0; i < attentionOperands; ++i)
    if (s.optional[i])
      addOptional(AttentionOperand(i));
  hideSomeKeys();
  addOut(z.sequences * z.queries);
}

void Trial::fillRows() {
  const RowsSpec &s = spec.rows;
  const int64_t rows = z.sequences * z.queries;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    const BufferSpec &of = s.inputs[i];
    const bool byRow =
        of.reading == Reading::element || of.reading == Reading::row;
    add("input" + std::to_string(i), of,
        s.gather[i] >= 0 ? of.rows
        : byRow          ? rows
                         : 1,
        [&](int64_t, int64_t) { return 0.3 + normal(); });
  }
  BufferSpec index{1, 1, -1, 1, Reading::element, Element::i32};
  for (int i = 0; i < s.indices; ++i)
    add("indices", index, rows, [&](int64_t, int64_t) { return whole(9); });
  addOut(rows);
}

void Trial::fillRotate() {
  const int64_t rows = z.sequences * z.queries;
  auto any = [&](int64_t, int64_t) { return normal(); };
  add("input", spec.rotate.input, rows, any);
  add("rotation", spec.rotate.rotation, rows, any);
  addOut(rows);
}

std::string Trial::compare(const std::vector<emulate::Buffer> &results,
                           const Numbers &wanted) {
  const BufferSpec &of = spec.out;
  const double relative =
      of.element == Element::bf16 ? relativeInBf16 : relativeInF32;
  const std::vector<char> &bytes = results.back().bytes;
  for (int64_t i = 0; i < int64_t(wanted.size()); ++i) {
    const int64_t row = i / of.rowStride, column = i % of.rowStride;
    if (column >= of.columns)
      continue;
    const double is = load(of.element, &bytes[i * bytesOf(of.element)]);
    const double error = std::abs(is - wanted[i]) / (1 + std::abs(wanted[i]));
    largest = std::max(largest, error);
    if (!(error < relative))
      return "out[" + std::to_string(row) + ", " + std::to_string(column) +
             "] is " + std::to_string(is) + " but must be " +
             std::to_string(wanted[i]);
  }
  outs() << "largest error " << largest << "\n";
  return "";
}

// Fills the trial and its kernel; gives what the out must be.
Numbers prepare(mlir::MLIRContext &context, const KernelSpec &spec,
                const Sizes &sizes, Trial &trial, nvvm::Kernel &made) {
  const int64_t rows = sizes.sequences * sizes.queries;
  if (spec.kind == KernelKind::rows) {
    trial.fillRows();
    made = nvvm::writeRows(context, spec, "kernel");
    return rowsInDouble(spec, rows, trial.numbers);
  }
  if (spec.kind == KernelKind::rotate) {
    trial.fillRotate();
    made = nvvm::writeRotate(context, spec, "kernel");
    return rotateInDouble(spec, rows, trial.numbers);
  }
  trial.fillAttention();
  made = nvvm::writeAttention(context, spec, nvvm::attentionTiles(spec)[0],
                              "kernel");
  return attentionInDouble(spec, sizes, trial.numbers);
}

std::unique_ptr<emulate::Kernel> ready(const nvvm::Kernel &made) {
  std::string problem;
  mlir::ModuleOp module = *made.module;
  auto device = *module.getOps<mlir::gpu::GPUModuleOp>().begin();
  auto kernel =
      emulate::Kernel::make(device, nvvm::descriptionOf(made.launch), problem);
  if (!kernel)
    outs() << problem << "\n";
  return kernel;
}

// Whether the kernel of long sequences gives the bits of `results`.
bool isSameOfLong(mlir::MLIRContext &context, const KernelSpec &spec,
                  const emulate::LaunchCase &launch,
                  std::vector<emulate::Buffer> buffers,
                  const std::vector<emulate::Buffer> &results) {
  if (spec.kind != KernelKind::attention)
    return true;
  const std::optional<nvvm::LongTile> other = nvvm::tileOfLong(spec);
  if (!other)
    return true;
  auto kernel =
      ready(nvvm::writeAttention(context, spec, other->tile, "kernel"));
  std::string problem = kernel ? kernel->run(launch, buffers) : "no kernel";
  if (problem.empty() && buffers.back().bytes != results.back().bytes)
    problem = "other bits";
  outs() << "long sequences: " << (problem.empty() ? "the same bits" : problem)
         << "\n";
  return problem.empty();
}

bool run(mlir::MLIRContext &context, const KernelSpec &spec, const Sizes &sizes,
         const emulate::Trials &trials) {
  Trial trial(spec, sizes);
  nvvm::Kernel made;
  const Numbers wanted = prepare(context, spec, sizes, trial, made);
  auto kernel = ready(made);
  if (!kernel)
    return false;
  const std::vector<emulate::Buffer> begin = trial.buffers;
  emulate::LaunchCase launch;
  launch.counts[MILLE_COUNT_ROWS] = sizes.sequences * sizes.queries;
  launch.counts[MILLE_COUNT_SEQUENCES] = sizes.sequences;
  launch.counts[MILLE_COUNT_QUERIES] = sizes.queries;
  launch.counts[MILLE_COUNT_KEYS] = sizes.keys;
  for (int64_t scalar : {sizes.queries, sizes.keys, sizes.first})
    launch.scalars.push_back(uint32_t(scalar));
  return emulate::run(
             *kernel, launch, trial.buffers, trials,
             [&](const std::vector<emulate::Buffer> &results) {
               return trial.compare(results, wanted);
             },
             outs()) == Status::done &&
         isSameOfLong(context, spec, launch, begin, trial.buffers);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 7)
    return 2;
  mlir::MLIRContext context;
  context.loadDialect<kernel::KernelDialect, mlir::func::FuncDialect,
                      mlir::arith::ArithDialect, mlir::math::MathDialect>();
  context.disableMultithreading();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  auto function =
      module ? module->lookupSymbol<mlir::func::FuncOp>(argv[2]) : nullptr;
  if (!function)
    return 2;
  const Sizes sizes{std::atoi(argv[3]), std::atoi(argv[4]), std::atoi(argv[5]),
                    std::atoi(argv[6])};
  emulate::Trials trials;
  trials.seeds = argc > 7 ? std::atoi(argv[7]) : 2;
  trials.leftOut = argc > 8 ? argv[8] : "";
  int failures = 0;
  function.walk([&](mlir::Operation *op) {
    KernelSpec spec;
    if (kernel::isGenerated(op))
      failures +=
          failed(readSpec(op, spec)) || !run(context, spec, sizes, trials);
  });
  return failures != 0;
}
