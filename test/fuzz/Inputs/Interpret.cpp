// Runs the text of a module on the reference, if it verifies: it must end with
// a status, whatever the text says. Sizes are small, so that a run is short.
#include "compiler/interpret/Interpret.h"
#include "compiler/import/Text.h"
#include "compiler/interpret/Inputs.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>

namespace {

constexpr int64_t mostNumbers = 1 << 16; // of one tensor

// Whether a tensor of the module would take too long or too much memory.
bool isLarge(mlir::ModuleOp module) {
  auto large = [](mlir::Type type) {
    auto shaped = llvm::dyn_cast<mlir::ShapedType>(type);
    if (!shaped || !shaped.hasRank())
      return false;
    int64_t numbers = 1;
    for (int64_t extent : shaped.getShape())
      if (llvm::MulOverflow(numbers,
                            mlir::ShapedType::isDynamic(extent)
                                ? int64_t(1)
                                : std::max<int64_t>(extent, 1),
                            numbers) ||
          numbers > mostNumbers)
        return true;
    return false;
  };
  return module
      ->walk([&](mlir::Operation *op) {
        bool any = llvm::any_of(op->getResultTypes(), large);
        for (mlir::Region &region : op->getRegions())
          for (mlir::Block &block : region)
            any |= llvm::any_of(block.getArgumentTypes(), large);
        op->getAttrDictionary().walk(
            [&](mlir::TypeAttr type) { any |= large(type.getValue()); },
            [&](mlir::Type type) { any |= large(type); });
        return any ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

// Inputs of the first entry: 2 sequences, 3 of every other size.
std::optional<mille::Values> inputsOf(mlir::func::FuncOp entry) {
  mille::Values values;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    const std::string name = mille::interpreter::inputName(entry, i).str();
    auto type = llvm::dyn_cast<mlir::ShapedType>(entry.getArgumentTypes()[i]);
    if (name.empty() || !type || entry.getArgAttr(i, "transformer.default"))
      continue;
    mille::Value value;
    value.integer = type.getElementType().isInteger();
    size_t numbers = 1;
    for (const mille::ShapeExtent &extent :
         mille::interpreter::inputShape(entry, i)) {
      const int64_t count = !extent.isSize()                     ? extent.count
                            : extent.size == mille::sizes::batch ? 2
                                                                 : 3;
      if (count < 0 || count > mostNumbers)
        return std::nullopt;
      value.shape.push_back(count);
      numbers *= count;
      if (numbers > size_t(mostNumbers))
        return std::nullopt;
    }
    for (size_t k = 0; k < numbers; ++k)
      value.numbers.push_back(value.integer ? k % 2 : 0.25 * (k % 9) - 1);
    values[name] = std::move(value);
  }
  return values;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  mlir::DialectRegistry registry;
  registry.insert<mille::transformer::TransformerDialect,
                  mille::kernel::KernelDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  if (failed(mille::import::checkText(text, "fuzz", context)))
    return 0;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module || isLarge(*module))
    return 0;
  for (auto model : module->getOps<mille::transformer::ModelOp>()) {
    auto entries = model.getBody().getOps<mlir::func::FuncOp>();
    if (entries.empty())
      continue;
    std::optional<mille::Values> inputs = inputsOf(*entries.begin());
    if (!inputs)
      continue;
    mille::ParameterValues parameters(model, "");
    mille::Values outputs;
    (void)mille::interpret(model, parameters, *inputs, outputs);
  }
  return 0;
}
