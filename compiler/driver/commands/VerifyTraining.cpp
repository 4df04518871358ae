// One batch through the interpreter's step and through the compiled one. Must
// not hold a bound: tolerances.json has them.
#include "compiler/driver/commands/VerifyTraining.h"

#include "compiler/differentiate/Passes.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/package/Reference.h"
#include "compiler/driver/train/StepInputs.h"
#include "compiler/driver/train/TrainedPackage.h"
#include "compiler/fuse/Passes.h"
#include "compiler/interpret/TensorFiles.h"
#include "dialects/transformer/Training.h"
#include "mlir/Pass/PassManager.h"

using namespace mille;
using llvm::StringRef;

namespace {

class TrainingCheck {
public:
  TrainingCheck(const VerifyOptions &options, mlir::MLIRContext &context)
      : options(options), context(context) {}

  Status run(VerifyReport &report) {
    Values given, expected, got;
    if (!options.inputs.empty())
      if (Status status = readTensors(options.inputs, context, given);
          failed(status))
        return status;
    if (Status status = opened.open(options.subject, {}, context);
        failed(status))
      return status;
    report.of(opened.package.name);
    if (Status status = Reference::open(opened.package, context, reference);
        failed(status))
      return status;
    showProgress("running the reference");
    if (Status status = runReference(given, expected); failed(status))
      return status;
    showProgress("running the package");
    if (Status status = runPackage(expected, got); failed(status))
      return status;
    std::vector<Difference> differences;
    if (Status status = compare(got, expected, {},
                                mlir::UnknownLoc::get(&context), differences);
        failed(status))
      return status;
    // Some gradients cancel to nothing, as that of the keys' bias does: they
    // are seen beside those of their unit.
    llvm::StringMap<double> largest;
    for (const Difference &one : differences)
      largest[unitOf(one.name)] =
          std::max(largest[unitOf(one.name)], one.maxExpected);
    for (Difference &one : differences) {
      const double ofUnit = largest[unitOf(one.name)];
      if (one.maxExpected < nothing * ofUnit)
        one.cosine = 1; // what rounding leaves of nothing has no direction
      one.maxExpected = std::max(one.maxExpected, leastShare * ofUnit);
    }
    const bool exact = opened.package.dtype.text() == "f32";
    return report.compare(
               "gradients of the compiled step against reference",
               std::move(differences),
               toleranceOf(exact ? "compiled_gradients" : "compiled_bf16"))
               ? Status::done
               : Status::bug;
  }

private:
  static constexpr double leastShare = 0.02, nothing = 1e-12;

  // "layers.3.attn" of layers.3.attn.k.bias; others stand alone.
  static StringRef unitOf(StringRef name) {
    StringRef unit = name.rsplit('.').first.rsplit('.').first;
    return unit.contains('.') ? unit : name;
  }

  Status runReference(const Values &given, Values &expected) {
    mlir::OwningOpRef<mlir::ModuleOp> module = reference.copy();
    auto model = *module->getOps<transformer::ModelOp>().begin();
    mlir::FailureOr<Training> training = trainingOf(model);
    if (mlir::failed(training))
      return Status::input;
    mlir::PassManager passes(&context);
    // Masks of dropout follow from a layer's number in its loop.
    if (training->dropout > 0)
      addRollPipeline(passes, /*byEncoding=*/false);
    passes.nest<transformer::ModelOp>().addPass(
        differentiate::createDifferentiate());
    if (mlir::failed(passes.run(*module)))
      return Status::input;
    shape.batch = 2 * training->accumulate;
    shape.tokens = 13;
    if (int64_t most = opened.package.most("tokens"))
      shape.tokens = std::min(shape.tokens, most);
    if (auto ids = given.find("input_ids");
        ids != given.end() && ids->second.shape.size() == 2) {
      shape.batch = ids->second.shape[0];
      shape.tokens = ids->second.shape[1];
    }
    inputs = stepInputs(model, given, shape, labels);
    ParameterValues parameters(model, reference.storedIn());
    Values outputs;
    if (Status status =
            interpret(model, parameters, inputs, outputs, trainStepName);
        failed(status))
      return status;
    double loss = 0;
    for (double one : outputs["losses"].numbers)
      loss += one;
    expected["loss"] = Value{{1}, {loss}, false};
    for (auto parameter : model.getOps<transformer::ParameterOp>()) {
      const std::string name = parameter.getSymName().str();
      if (auto found = outputs.find("gradient." + name); found != outputs.end())
        expected[name] = std::move(found->second);
    }
    return Status::done;
  }

  // Of the run, by what its inputs have.
  std::vector<mille_size> sizesOf() {
    std::vector<mille_size> sizes;
    for (const mille_tensor &input : opened.inputs())
      for (int d = 0; d < input.rank; ++d) {
        auto found = inputs.find(input.name);
        const char *name = input.sizes[d];
        if (name && found != inputs.end() &&
            llvm::none_of(sizes, [&](const mille_size &size) {
              return StringRef(size.name) == name;
            }))
          sizes.push_back({name, found->second.shape[d]});
      }
    return sizes;
  }

  Status runPackage(const Values &expected, Values &got) {
    const LibraryFunctions &api = opened.functions();
    std::vector<std::vector<int32_t>> numbers; // the bits of each
    std::vector<const void *> pointers;
    for (const mille_tensor &input : opened.inputs()) {
      auto found = inputs.find(input.name);
      const bool given = found != inputs.end() && input.name != lossWeightName;
      numbers.emplace_back();
      if (given)
        for (double number : found->second.numbers)
          numbers.back().push_back(
              found->second.integer ? int32_t(number)
                                    : llvm::bit_cast<int32_t>(float(number)));
      pointers.push_back(given ? numbers.back().data() : nullptr);
    }
    const std::vector<mille_size> sizes = sizesOf();
    mille_trainer *trainer = nullptr;
    mille_status status =
        api.mille_trainer_create(opened.code->handle(), sizes.data(),
                                 sizes.size(), int(options.threads), &trainer);
    if (status != MILLE_OK)
      return opened.code->fail(
          status, api.mille_package_message(opened.code->handle()));
    mille_step_report report = {};
    status = api.mille_trainer_gradients(trainer, sizes.data(), sizes.size(),
                                         pointers.data(), &report);
    got["loss"] = Value{{1}, {report.loss}, false};
    for (const auto &[name, value] : expected) {
      if (status != MILLE_OK || name == "loss")
        continue;
      std::vector<float> gradient(value.numbers.size());
      status = api.mille_trainer_gradient(trainer, name.c_str(),
                                          gradient.data(), gradient.size());
      got[name] = Value{value.shape, {gradient.begin(), gradient.end()}, false};
    }
    const Status outcome =
        status == MILLE_OK
            ? Status::done
            : opened.code->fail(status, api.mille_trainer_message(trainer));
    api.mille_trainer_close(trainer);
    return outcome;
  }

  const VerifyOptions &options;
  mlir::MLIRContext &context;
  TrainedPackage opened;
  Reference reference;
  StepShape shape;
  Values inputs;
  int64_t labels = 0;
};

} // namespace

Status mille::verifyTraining(const VerifyOptions &options,
                             mlir::MLIRContext &context, VerifyReport &report) {
  return TrainingCheck(options, context).run(report);
}
