// Reads bytes as the text of a module: a module that verifies must print, and
// its text must read back the same.
#include "compiler/import/Text.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Parser/Parser.h"

#include <cstdlib>

namespace {

std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  mlir::DialectRegistry registry;
  registry.insert<mille::transformer::TransformerDialect,
                  mille::kernel::KernelDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  if (failed(mille::import::checkText(text, "fuzz", context)))
    return 0;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return 0;
  std::string printed = print(*module);
  auto again = mlir::parseSourceString<mlir::ModuleOp>(printed, &context);
  if (!again || print(*again) != printed) {
    llvm::errs() << "does not read back:\n" << printed << '\n';
    std::abort();
  }
  return 0;
}
