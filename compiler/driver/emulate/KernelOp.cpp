// A kernel op through its generator and the emulator. Must not know tiles or
// what an op computes.
#include "compiler/driver/emulate/KernelOp.h"
#include "compiler/driver/emulate/Expected.h"
#include "compiler/interpret/Judge.h"
#include "compiler/kernels/ReadSpec.h"
#include "compiler/nvvm/Generate.h"
#include "compiler/nvvm/Kernel.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <map>

using namespace mille;
using namespace mille::emulated;

static const Target &hopper() {
  static const Target target = {"cuda", TargetKind::device, "cuda"};
  return target;
}

// Attention of bf16 rounds its weights, whatever the out is.
double mille::emulated::boundOf(const KernelSpec &spec, Element out) {
  const bool attends = spec.kind == KernelKind::attention;
  const bool byParts = attends ? spec.attention.query.element == Element::f32
                               : spec.kind == KernelKind::matmul &&
                                     spec.matmul.input.element == Element::f32;
  const Element operand =
      attends ? spec.attention.query.element : spec.matmul.input.element;
  const bool half = out == Element::f16 || (attends && operand == Element::f16);
  llvm::StringRef name = half ? "emulated_f16" : "emulated_bf16";
  if (bytesOf(out) != 2 && (byParts || !attends))
    name = byParts ? "emulated_parts" : "emulated_f32";
  return toleranceOf(name).relative;
}

std::string mille::emulated::judgeOut(const Operand &expected,
                                      const emulate::Buffer &buffer,
                                      double bound) {
  Operand got = expected;
  got.read(buffer);
  for (int64_t row = 0; row < got.rows; ++row)
    for (int64_t column = 0; column < got.spec.columns; ++column) {
      double is = got.at(row, column), must = expected.at(row, column);
      if (std::fabs(is - must) <= bound * expected.sizeAt(row, column))
        continue;
      std::string text;
      llvm::raw_string_ostream(text)
          << "out[" << row << ", " << column << "] is "
          << llvm::format("%g", is) << " but must be "
          << llvm::format("%g", must);
      return text;
    }
  return "";
}

namespace {
// The outs of an op by the number of rows.
using Outs = std::map<int64_t, std::vector<std::vector<char>>>;

// One kernel at one size.
class OneRun {
public:
  OneRun(mlir::Operation *op, const KernelSpec &spec, const Options &options,
         Outs &outs, llvm::raw_ostream &out)
      : op(op), spec(spec), options(options), outs(outs), out(out) {}

  Status run(const Kernels &kernels, int64_t rows);

private:
  // The last kernel gives the outs, which `judge` sees; those before it give
  // the same bits under every schedule.
  Status launch(const Kernels &kernels, const emulate::LaunchCase &launch,
                std::vector<emulate::Buffer> &buffers, emulate::Judge judge);

  mlir::Operation *op;
  const KernelSpec &spec;
  const Options &options;
  Outs &outs;
  llvm::raw_ostream &out;
};
} // namespace

// Attention to states, and matmuls, in every tile and in both row classes.
static bool bitsAreOfAll(const KernelSpec &spec) {
  return spec.attention.past || spec.kind == KernelKind::matmul;
}

void mille::emulated::noteWritten(const std::vector<emulate::Buffer> &before,
                                  std::vector<emulate::Buffer> &buffers) {
  for (size_t i = 0; i < buffers.size(); ++i)
    buffers[i].written |= buffers[i].bytes != before[i].bytes;
}

Status OneRun::launch(const Kernels &kernels, const emulate::LaunchCase &launch,
                      std::vector<emulate::Buffer> &buffers,
                      emulate::Judge judge) {
  Status worst = Status::done;
  for (const auto &kernel : kernels) {
    const std::vector<emulate::Buffer> before = buffers;
    std::vector<std::vector<char>> first;
    auto sameBits = [&](const std::vector<emulate::Buffer> &results) {
      std::vector<std::vector<char>> bytes;
      for (const emulate::Buffer &buffer : results)
        bytes.push_back(buffer.bytes);
      if (first.empty())
        first = bytes;
      return std::string(bytes == first ? ""
                                        : "other bits than with the first "
                                          "seed");
    };
    const bool isLast = kernel == kernels.back();
    if (kernel != kernels.front())
      out << "then: ";
    // Guards of kernels before the last are tried where each is an op's only
    // kernel.
    emulate::Trials trials = options.trials;
    if (!isLast)
      trials.leftOut.clear();
    Status status =
        emulate::run(*kernel, launch, buffers, trials,
                     isLast ? judge : emulate::Judge(sameBits), out);
    if (failed(status))
      worst = status;
    noteWritten(before, buffers);
  }
  return worst;
}

// Where each expert's rows begin, behind the out.
static emulate::Buffer startsBuffer(const MatmulSpec &m, int64_t rows) {
  Operand operand;
  operand.name = "starts";
  operand.spec = {1, 1, -1, 1, Reading::row, Element::i32};
  for (int64_t start : startsOf(m, rows))
    operand.numbers.push_back(double(start));
  operand.rows = int64_t(operand.numbers.size());
  return operand.bytes(true);
}

Status OneRun::run(const Kernels &kernels, int64_t rows) {
  Sizes sizes = {rows, options.sequences, options.keys, options.first};
  if (rows % sizes.sequences) {
    op->emitError() << "rows is " << rows << " but sequences is "
                    << sizes.sequences;
    return Status::commandLine;
  }
  if (!sizes.keys)
    sizes.keys = sizes.queries();
  std::string problem;
  std::vector<Operand> operands = operandsOf(op, spec, sizes, problem);
  if (operands.empty()) {
    op->emitError() << problem;
    return Status::input;
  }
  compute(op, spec, sizes, operands);
  std::vector<emulate::Buffer> buffers;
  const size_t inputs = operands.size() - outsOf(spec).size();
  for (const Operand &operand : operands)
    buffers.push_back(operand.bytes(buffers.size() < inputs));
  if (spec.matmul.experts)
    buffers.push_back(startsBuffer(spec.matmul, rows));
  emulate::LaunchCase sized = launchOf(sizes);
  sized.units = options.units;
  std::vector<std::vector<char>> own;
  std::vector<std::vector<char>> &first = bitsAreOfAll(spec) ? outs[rows] : own;
  auto judge = [&](const std::vector<emulate::Buffer> &results) {
    std::vector<std::vector<char>> bytes;
    for (size_t i = inputs; i < operands.size(); ++i)
      bytes.push_back(results[i].bytes);
    if (first.empty())
      first = bytes;
    if (bytes != first)
      return std::string("the out has other bits than with the first seed, "
                         "or in another tile");
    std::string problem;
    for (size_t i = inputs; i < operands.size() && problem.empty(); ++i)
      problem = judgeOut(operands[i], results[i],
                         boundOf(spec, operands[i].spec.element));
    return problem;
  };
  out << rows << " rows: ";
  return launch(kernels, sized, buffers, judge);
}

emulate::LaunchCase mille::emulated::launchOf(const Sizes &sizes) {
  emulate::LaunchCase launch;
  const int64_t counts[] = {1, sizes.rows, sizes.sequences, sizes.queries(),
                            sizes.keys};
  std::copy(counts, counts + 5, launch.counts);
  launch.scalars = {uint32_t(sizes.queries()), uint32_t(sizes.keys),
                    uint32_t(sizes.first)};
  for (int64_t s = 0; s < sizes.sequences; ++s)
    launch.past.push_back(int32_t(sizes.held(s)));
  return launch;
}

Kernels mille::emulated::makeKernels(mlir::Operation *op,
                                     const KernelSpec &spec, bool few,
                                     unsigned rank, std::string &problem) {
  KernelRequest request = {spec, hopper(), "kernel_argv", few, rank, false};
  nvvm::Kernel kernel;
  if (!nvvm::writeKernel(*op->getContext(), request, kernel, problem))
    return {};
  Kernels kernels;
  for (nvvm::Kernel *one = &kernel; one; one = one->then.get()) {
    mille_device_kernel description = nvvm::descriptionOf(one->launch);
    auto modules = one->module->getOps<mlir::gpu::GPUModuleOp>();
    kernels.push_back(
        emulate::Kernel::make(*modules.begin(), description, problem));
    if (!kernels.back())
      return {};
  }
  return kernels;
}

static Status runClass(mlir::Operation *op, const KernelSpec &spec, bool few,
                       unsigned rank, const Options &options, Outs &outs,
                       llvm::raw_ostream &out) {
  std::string problem;
  const Kernels kernels = makeKernels(op, spec, few, rank, problem);
  if (kernels.empty()) {
    if (!problem.empty())
      op->emitError() << "no Hopper kernel: " << problem;
    return Status::input;
  }
  OneRun one(op, spec, options, outs, out);
  Status worst = Status::done;
  for (int64_t rows : options.rows) {
    Status status = one.run(kernels, rows);
    worst = failed(status) ? status : worst;
  }
  return worst;
}

Status mille::emulated::run(mlir::Operation *op, const Options &options,
                            llvm::raw_ostream &out) {
  KernelSpec spec;
  if (mlir::failed(readSpec(op, spec)))
    return Status::input;
  const Generator &generator = nvvmGenerator();
  std::vector<std::string> tiles = generator.tiles(spec, hopper());
  Status worst = Status::done;
  Outs outs;
  auto runOne = [&](bool few, unsigned rank, llvm::StringRef words) {
    out << op->getName().getStringRef() << (few ? ", few rows" : "")
        << (words.empty() ? "" : ", ") << words << "\n";
    Status status = runClass(op, spec, few, rank, options, outs, out);
    worst = failed(status) ? status : worst;
  };
  if (options.few && generator.hasClasses(spec, hopper()))
    runOne(true, 0, "");
  if (!options.many)
    return worst;
  if (tiles.empty())
    runOne(false, 0, "");
  for (unsigned i = 0; i < tiles.size() && (!i || options.allTiles); ++i)
    runOne(false, i, tiles[i]);
  return worst;
}
