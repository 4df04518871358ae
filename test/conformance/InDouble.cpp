// in-double MODEL INPUTS EXPECTED compares a reference run with answers in
// double.
// For tests only: `mille run` writes f32, which hides errors under 1e-7.
#include "compiler/import/Import.h"
#include "compiler/interpret/Judge.h"
#include "compiler/interpret/TensorFiles.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/SourceMgr.h"

using namespace mille;

static Status runAndJudge(char **arguments, mlir::MLIRContext &context) {
  ImportOptions wishes;
  wishes.hiddenStates = true;
  Values inputs;
  if (Status s = readTensors(arguments[2], context, inputs); failed(s))
    return s;
  if (auto pixels = inputs.find("pixel_values"); pixels != inputs.end())
    wishes.imageSizeAtHand =
        ImageSize{pixels->second.shape.at(2), pixels->second.shape.at(3)};
  Imported imported;
  if (Status s = importModel(arguments[1], wishes, context, imported);
      failed(s))
    return s;
  auto models = imported.module->getOps<transformer::ModelOp>();
  transformer::ModelOp model = *models.begin();
  Values expected, outputs;
  std::set<std::string> wide; // answers stored as f64
  if (Status s = readTensors(arguments[3], context, expected, {}, &wide);
      failed(s))
    return s;
  ParameterValues parameters(model, imported.folder);
  if (Status s = interpret(model, parameters, inputs, outputs); failed(s))
    return s;
  splitEntries(outputs);
  std::vector<Difference> differences;
  if (Status s =
          compare(outputs, expected, inputs, model.getLoc(), differences);
      failed(s))
    return s;
  auto bound = [&](const Difference &difference) {
    return toleranceOf(wide.count(difference.name) ? "reference_double"
                                                   : "reference_rounded");
  };
  return judge(llvm::outs(), "reference against answers", differences, bound)
             ? Status::done
             : Status::bug;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return int(Status::commandLine);
  mlir::DialectRegistry registry;
  registry.insert<transformer::TransformerDialect, kernel::KernelDialect,
                  mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::tensor::TensorDialect>();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  return int(runAndJudge(argv, context));
}
