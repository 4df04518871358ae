// lower-program: Lower.h for mille-opt, with stand-ins for kernels.
// Must not be used where kernels are generated.
#include "compiler/lower/LaunchOperands.h"
#include "compiler/lower/Lower.h"
#include "compiler/lower/Passes.h"
#include "dialects/kernel/Kernel.h"
#include "llvm/Support/raw_ostream.h"

namespace mille::lower {
#define GEN_PASS_DEF_LOWERPROGRAM
#include "compiler/lower/Passes.h.inc"
} // namespace mille::lower

using namespace mlir;
using namespace mille;

namespace {

KernelInfo standIn(Operation *kernel, llvm::StringMap<unsigned> &numbers) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << kernel->getName() << kernel->getAttrDictionary();
  for (Value operand : kernel->getOperands())
    stream << operand.getType();
  unsigned number = numbers.try_emplace(text, numbers.size()).first->second;
  KernelInfo info{};
  info.name = "mille_k_" + std::to_string(number);
  for (OpOperand &operand : kernel->getOpOperands())
    if (lower::isBuffer(operand))
      ++info.bufferCount;
    else if (!lower::isMemref(operand.get()))
      ++info.scalarCount;
  return info;
}

struct LowerProgram : lower::impl::LowerProgramBase<LowerProgram> {
  using LowerProgramBase::LowerProgramBase;

  void runOnOperation() override {
    llvm::StringMap<unsigned> numbers;
    LowerOptions options;
    options.name = name;
    options.embedWeights = embed;
    options.isas = {{"x86-64-v4", TargetKind::cpu, "", 2},
                    {"x86-64-v3", TargetKind::cpu, "", 1}};
    options.describe = [&](Operation *op) { return standIn(op, numbers); };
    options.symbol = [](const KernelInfo &info, const Target &isa,
                        RowClass rows) {
      return info.name + (isa.name == "x86-64-v4" ? "_v4" : "_v3") +
             (rows == RowClass::few ? "_few" : "_many");
    };
    WeightTable table = collectWeights(getOperation());
    OwningOpRef<ModuleOp> program;
    if (mille::failed(lowerProgram(getOperation(), table, options, program)))
      return signalPassFailure();
    if (!object.empty() && failed(writeObject(*program)))
      return signalPassFailure();
    getOperation().getBodyRegion().takeBody(program->getBodyRegion());
  }

  LogicalResult writeObject(ModuleOp program) {
    std::string bytes;
    if (mille::failed(emitObject(program, bytes)))
      return failure();
    std::error_code error;
    llvm::raw_fd_ostream file(object, error);
    if (error)
      return program.emitError("cannot write ")
             << object << ": " << error.message();
    file << bytes;
    return success();
  }
};

} // namespace
