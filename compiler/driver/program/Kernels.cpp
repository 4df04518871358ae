// Finds the distinct kernels of a planned program, and makes their objects on
// several threads. Must not know how a kernel is made.
#include "compiler/driver/program/Kernels.h"

#include "compiler/driver/Generators.h"
#include "dialects/kernel/Joined.h"
#include "dialects/kernel/Signature.h"
#include "mlir/IR/Remarks.h"
#include "runtime/abi.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <atomic>
#include <mutex>
#include <thread>

using namespace mille;

// Every program takes the batch and the tokens, needed or not.
constexpr unsigned usualSizes = 2;

// A run knows a size by an input, an output or a state that has it.
static bool sizesAreKnown(mlir::func::FuncOp program) {
  const kernel::Signature signature = kernel::signatureOf(program);
  for (unsigned i = 0; i < kernel::sizeArguments(program); ++i) {
    llvm::StringRef name = kernel::sizeName(program, i);
    if (signature.size(name) ||
        (i < usualSizes && program.getArgument(i).use_empty()))
      continue;
    program.emitOpError() << "takes the size '" << name
                          << "' but no input, output or state has it";
    return false;
  }
  return true;
}

Status mille::distinctKernels(mlir::Operation *model,
                              std::vector<DistinctKernel> &kernels) {
  Status status = Status::done;
  for (mlir::func::FuncOp program : kernel::entriesOf(model))
    if (!sizesAreKnown(program))
      return Status::bug;
  llvm::StringMap<size_t> known;
  model->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    if (!kernel::isLeader(op))
      return;
    KernelInfo info = generators().describe(op);
    if (info.name.empty()) { // describe has reported an error
      status = Status::bug;
    } else if (info.bufferCount > MILLE_MAX_BUFFERS) {
      op->emitOpError() << "has " << info.bufferCount
                        << " buffers but a launch takes at most "
                        << MILLE_MAX_BUFFERS;
      status = Status::bug;
    }
    auto [entry, isNew] = known.try_emplace(info.name, kernels.size());
    if (isNew)
      kernels.push_back({std::move(info), op, 1});
    else
      ++kernels[entry->second].places;
  });
  return status;
}

static std::string number(int64_t value) { return std::to_string(value); }

static int64_t columnsOf(mlir::Value buffer) {
  return llvm::cast<mlir::ShapedType>(buffer.getType()).getShape().back();
}

// The element type as a suffix; "" for f32.
static std::string elementsInWords(mlir::Value buffer) {
  auto type = llvm::cast<mlir::ShapedType>(buffer.getType()).getElementType();
  return type.isF32()                       ? ""
         : type.isBF16()                    ? ", bf16"
         : type.isF16()                     ? ", f16"
         : llvm::isa<mlir::FloatType>(type) ? ", fp8"
                                            : ", int8";
}

std::string mille::describeInWords(mlir::Operation *kernelOp) {
  return llvm::TypeSwitch<mlir::Operation *, std::string>(kernelOp)
      .Case([](kernel::MatmulOp op) {
        const int64_t heads = std::max<int64_t>(op.getHeads(), 1);
        std::string text = "matmul " +
                           number(columnsOf(op.getInput()) / heads) + " -> " +
                           number(columnsOf(op.getOut()) / heads);
        if (op.getAccumulators() == 2)
          text += ", gated";
        if (auto blocks = op.getBlocks())
          text += ", " + transformer::stringifyEncoding(*blocks).str();
        else
          text += elementsInWords(op.getInput());
        if (mlir::Value starts = op.getStarts())
          text += ", of " + number(columnsOf(starts) - 1) + " experts";
        if (op.getHeads())
          text += ", of " + number(op.getHeads()) + " heads";
        return text;
      })
      .Case([](kernel::AttentionOp op) {
        std::string text = "attention " + number(op.getHeads()) + " x " +
                           number(op.getHeadDim());
        if (op.getKvHeads() != op.getHeads())
          text += ", " + number(op.getKvHeads()) + " kv";
        text += elementsInWords(op.getQuery());
        return op.getCausal() ? text + ", causal" : text;
      })
      .Case([](kernel::QuantizeOp op) {
        const mlir::Type element =
            llvm::cast<mlir::ShapedType>(op.getValues().getType())
                .getElementType();
        return "quantize " + number(columnsOf(op.getInput())) +
               (element.isSignlessInteger() ? " in blocks" : "");
      })
      .Case([](kernel::LinearAttentionOp op) {
        return "linear attention " + number(op.getHeads()) + " x " +
               number(op.getHeadDim());
      })
      .Case([](kernel::RotateOp op) {
        return "rotate " + number(op.getHeads()) + " x " +
               number(op.getHeadDim());
      })
      .Case<kernel::DispatchOp, kernel::CombineOp>([](auto op) {
        return op->getName().stripDialect().str() + " " +
               number(columnsOf(op.getOut())) + ", " + number(op.getK()) +
               " of each row";
      })
      .Case([](kernel::RowsOp op) {
        std::string text = "rows " + number(columnsOf(op.getOut()));
        if (auto norm = op.getNorm())
          text += ", " + stringifyRowNormKind(norm->getKind()).str() + " norm";
        if (llvm::any_of(op.getGather(), [](int64_t g) { return g >= 0; }))
          text += ", gathered";
        return text;
      })
      .Default([](mlir::Operation *op) {
        return op->getName().stripDialect().str();
      });
}

void mille::remarkOnTiles(llvm::ArrayRef<DistinctKernel> kernels,
                          llvm::ArrayRef<Target> isas) {
  for (const DistinctKernel &kernel : kernels)
    for (const Target &isa : isas)
      for (const std::string &why : generators().explainTiles(kernel.op, isa))
        mlir::remark::passed(
            kernel.op->getLoc(),
            mlir::remark::RemarkOpts::name("Tiles").category("plan"))
            << isa.name + ", " + describeInWords(kernel.op) + ": " + why;
}

namespace {
struct Task {
  const DistinctKernel *kernel;
  const Target *isa;
  RowClass rows;
  std::string symbol, object;
};
} // namespace

static std::vector<Task> tasksFor(llvm::ArrayRef<DistinctKernel> kernels,
                                  llvm::ArrayRef<Target> isas) {
  std::vector<Task> tasks;
  llvm::StringSet<> known;
  for (const DistinctKernel &kernel : kernels)
    for (const Target &isa : isas)
      for (RowClass rows : {RowClass::few, RowClass::many, RowClass::join}) {
        std::string symbol = kernelSymbol(kernel.info, isa, rows);
        if (!symbol.empty() && known.insert(symbol).second)
          tasks.push_back({&kernel, &isa, rows, std::move(symbol), {}});
      }
  return tasks;
}

Status mille::generateKernels(
    llvm::ArrayRef<DistinctKernel> kernels, llvm::ArrayRef<Target> isas,
    const TileRanks &ranks, unsigned jobs, bool useCache,
    llvm::function_ref<void(size_t, size_t)> made,
    std::vector<std::pair<std::string, std::string>> &objects) {
  std::vector<Task> tasks = tasksFor(kernels, isas);
  std::atomic<size_t> next{0}, finished{0};
  std::mutex guard;
  Status outcome = Status::done;
  std::exception_ptr thrown;
  auto work = [&] {
    for (size_t i; (i = next++) < tasks.size();) {
      Task &task = tasks[i];
      Status status = Status::done;
      try {
        status = generators().generate(
            task.kernel->op, *task.isa, task.rows, useCache, task.object,
            ranks.of(task.kernel->info.name, task.isa->name));
      } catch (...) {
        std::lock_guard<std::mutex> lock(guard);
        thrown = std::current_exception();
        status = Status::bug;
      }
      made(++finished, tasks.size());
      if (!failed(status))
        continue;
      std::lock_guard<std::mutex> lock(guard);
      outcome = status;
      next = tasks.size(); // start no further task
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < jobs && t < tasks.size(); ++t)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (thrown)
    std::rethrow_exception(thrown);
  for (Task &task : tasks)
    objects.emplace_back(task.symbol, std::move(task.object));
  return outcome;
}
