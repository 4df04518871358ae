// both-in-double ONE.mlir OTHER.mlir INPUTS FOLDER runs two models in double
// and prints the largest difference of their outputs, relative to each output's
// largest number. For tests only: `mille run` writes f32.
#include "compiler/interpret/Interpret.h"
#include "compiler/interpret/TensorFiles.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mille;

static Status run(const char *path, const char *folder, const Values &inputs,
                  mlir::MLIRContext &context, Values &outputs) {
  auto module =
      mlir::parseSourceFile<mlir::ModuleOp>(path, mlir::ParserConfig(&context));
  if (!module)
    return Status::input;
  auto models = module->getOps<transformer::ModelOp>();
  transformer::ModelOp model = *models.begin();
  ParameterValues parameters(model, folder);
  return interpret(model, parameters, inputs, outputs);
}

static Status runBoth(char **arguments, mlir::MLIRContext &context) {
  Values inputs, one, other;
  if (Status s = readTensors(arguments[3], context, inputs); failed(s))
    return s;
  if (Status s = run(arguments[1], arguments[4], inputs, context, one);
      failed(s))
    return s;
  if (Status s = run(arguments[2], arguments[4], inputs, context, other);
      failed(s))
    return s;
  // Infinite where a number is none, or the outputs are not the same ones.
  double worst = !one.empty() && one.size() == other.size() ? 0 : INFINITY;
  for (const auto &[name, value] : one) {
    auto twin = other.find(name);
    if (twin == other.end() ||
        twin->second.numbers.size() != value.numbers.size()) {
      worst = INFINITY;
      continue;
    }
    double most = 0, difference = 0;
    for (size_t i = 0; i < value.numbers.size(); ++i) {
      double number = value.numbers[i];
      double between = std::abs(number - twin->second.numbers[i]);
      most = std::max(most, std::abs(number));
      difference =
          std::isnan(between) ? INFINITY : std::max(difference, between);
    }
    worst = std::max(worst, most ? difference / most : difference);
  }
  llvm::outs() << (worst == 0       ? "equal"
                   : worst <= 1e-12 ? "within 1e-12"
                                    : "differs")
               << " " << worst << "\n";
  return Status::done;
}

int main(int argc, char **argv) {
  if (argc != 5)
    return int(Status::commandLine);
  mlir::DialectRegistry registry;
  registry.insert<transformer::TransformerDialect, kernel::KernelDialect,
                  mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::tensor::TensorDialect>();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  return int(runBoth(argv, context));
}
