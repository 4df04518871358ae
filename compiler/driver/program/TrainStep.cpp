// Plans a step for each word of --recompute until one fits.
#include "compiler/driver/program/TrainStep.h"

#include "compiler/differentiate/Passes.h"
#include "compiler/driver/Failures.h"
#include "compiler/driver/program/TrainerMemory.h"
#include "compiler/fuse/Passes.h"
#include "dialects/kernel/Signature.h"
#include "mlir/Pass/PassManager.h"

using namespace mille;

static transformer::ModelOp modelOf(mlir::ModuleOp module) {
  return *module.getOps<transformer::ModelOp>().begin();
}

mlir::LogicalResult mille::makeTrainStep(mlir::ModuleOp module,
                                         const std::string &recompute) {
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(false);
  differentiate::DifferentiateOptions options;
  options.recompute = recompute;
  passes.nest<transformer::ModelOp>().addPass(
      differentiate::createDifferentiate(options));
  if (failed(passes.run(module)))
    return mlir::failure();
  if (auto forward = kernel::forwardOf(modelOf(module));
      forward && kernel::entryOf(modelOf(module), trainStepName))
    forward.erase();
  return mlir::success();
}

Status mille::checkTrainStep(mlir::ModuleOp given) {
  if (kernel::entryOf(modelOf(given), trainStepName))
    return Status::done;
  emitError(*given.getContext())
      << "--train is given but the model given is rolled, and has no entry "
      << trainStepName << ": a step is made before";
  return Status::commandLine;
}

Status mille::chooseRecompute(mlir::ModuleOp rolled,
                              const CompileRequest &request,
                              const PlanChoices &choices,
                              std::string &recompute) {
  recompute = request.recompute;
  const MemoryLimit &limit = request.memory;
  mlir::FailureOr<Training> training = trainingOf(modelOf(rolled));
  if (!limit.bytes || failed(training))
    return failed(training) ? Status::input : Status::done;
  int64_t layers = 0, least = INT64_MAX;
  rolled.walk([&](transformer::LayersOp op) {
    layers = std::max<int64_t>(layers, op.getBodies().size());
  });
  for (const std::string &word : recomputeWords(layers)) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = rolled.clone();
    mlir::PassManager passes(rolled.getContext());
    passes.enableVerifier(false);
    addFusePipeline(passes);
    addPlanPipeline(passes, choices);
    if (failed(makeTrainStep(*copy, word)) || failed(passes.run(*copy)))
      return Status::input;
    const int64_t bytes =
        limit.besides +
        trainerBytes(modelOf(*copy), *training, limit.batch, limit.tokens);
    if (bytes < least)
      recompute = word;
    least = std::min(least, bytes);
    if (bytes <= limit.bytes)
      break;
  }
  if (least > limit.bytes) {
    emitError(*rolled.getContext())
        << "a step of batch " << limit.batch << " takes " << least
        << " bytes at least, with --recompute=" << recompute
        << ", but --memory is " << limit.bytes;
    return Status::commandLine;
  }
  if (request.observer.chose)
    request.observer.chose(recompute, least);
  return Status::done;
}
