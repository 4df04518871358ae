// `mille analyze`: predicts the effects of depth, norm placement and scales on
// a model before anybody runs or trains it. Must only connect the rooms; the
// mathematics is in compiler/analyze.
#include "compiler/driver/Command.h"
#include "compiler/driver/commands/ExactGradients.h"
#include "compiler/driver/commands/PageFile.h"
#include "compiler/driver/package/Package.h"
#include "compiler/driver/package/RandomNumbers.h"
#include "compiler/driver/package/Reference.h"

#include "compiler/analyze/Analysis.h"
#include "compiler/analyze/KeepSums.h"
#include "compiler/analyze/Measure.h"
#include "compiler/analyze/Read.h"
#include "compiler/interpret/TensorFiles.h"
#include "dialects/kernel/Signature.h"

#include <cmath>

using namespace mille;
using namespace mille::analyze;
using llvm::StringRef;

// Makes one sequence of random ids within bounds, or random pixels and
// features.
static Values sampleOf(mlir::Operation *model, int64_t tokens, uint64_t seed) {
  auto forward = kernel::forwardOf(model);
  std::mt19937_64 bits(seed);
  Values values;
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    auto name =
        forward.getArgAttrOfType<mlir::StringAttr>(i, "transformer.name");
    if (!name || forward.getArgAttr(i, "transformer.default"))
      continue;
    auto type = llvm::cast<mlir::ShapedType>(forward.getArgument(i).getType());
    auto below =
        forward.getArgAttrOfType<mlir::IntegerAttr>(i, "transformer.below");
    Value value;
    value.integer = type.getElementType().isInteger();
    size_t count = 1;
    for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
      const bool open = mlir::ShapedType::isDynamic(extent);
      value.shape.push_back(!open ? extent : axis == 0 ? 1 : tokens);
      count *= value.shape.back();
    }
    for (size_t k = 0; k < count; ++k)
      value.numbers.push_back(
          value.integer ? double(drawId(bits, below ? below.getInt() : 0))
                        : drawNumber(bits));
    values[name.str()] = std::move(value);
  }
  return values;
}

// Computes the moments and the largest magnitude of each tensor that a run
// kept.
static void takeMeasures(const Values &outputs, size_t number,
                         StackAnalysis &a) {
  auto entry = [&](const std::string &name, size_t i, double &second,
                   double *largest) {
    auto found = outputs.find(name);
    if (found == outputs.end() || found->second.shape.empty())
      return;
    const size_t each = found->second.numbers.size() / found->second.shape[0];
    second = 0;
    for (size_t k = i * each; k < (i + 1) * each; ++k) {
      const double x = found->second.numbers[k];
      second += x * x / double(each);
      if (largest)
        *largest = std::max(*largest, std::fabs(x));
    }
  };
  for (size_t i = 0; i < a.ranges.size(); ++i) {
    Range &range = a.ranges[i];
    entry(nameOfSums(number), i, range.measuredSecond, &range.measuredLargest);
    entry(nameOfResults(number), i, range.measuredOut, nullptr);
  }
}

static Status openModel(const AnalyzeOptions &options,
                        mlir::MLIRContext &context, Reference &reference) {
  Subject subject;
  Package package;
  if (Status status = findSubject(options.subject, context, subject, package);
      failed(status))
    return status;
  if (subject == Subject::package) {
    if (!options.weights.empty()) {
      mlir::emitError(
          mlir::FileLineColLoc::get(&context, options.subject, 0, 0))
          << "--weights is " << options.weights
          << " but a package has its own: give the model";
      return Status::commandLine;
    }
    return Reference::open(package, context, reference);
  }
  ImportOptions how;
  how.weights = options.weights;
  return Reference::open(options.subject, how, context, reference);
}

// Fills the report, except for the parts that a run measures.
static Status predictAll(const AnalyzeOptions &options, Reference &reference,
                         Report &report) {
  mlir::Operation *model = reference.model();
  const bool unknown = model->hasAttr("weights"); // "none"
  report.model = llvm::cast<transformer::ModelOp>(model).getSymName().str();
  Parameters parameters(model, reference.storedIn(), options.norms);
  report.weights = unknown ? "unknown: branches taken to keep the second moment"
                   : parameters.anyStored() ? "as stored"
                                            : "by recipe";
  report.options.bounds = options.norms;
  report.options.trained = parameters.anyStored();
  report.options.keys = double(options.keys);
  report.options.simulation.seed = options.seed;
  std::vector<Stack> stacks;
  if (Status status = readStacks(
          model, unknown, [&](StringRef name) { return parameters.of(name); },
          stacks);
      failed(status))
    return status;
  if (parameters.failed())
    return Status::input;
  for (const Stack &stack : stacks)
    report.stacks.push_back(analyze::analyze(stack, report.options));
  return Status::done;
}

static Status measureAll(const AnalyzeOptions &options,
                         mlir::MLIRContext &context, Reference &reference,
                         Report &report) {
  Values inputs, outputs;
  if (!options.inputs.empty()) {
    if (Status status = readTensors(options.inputs, context, inputs);
        failed(status))
      return status;
    report.sample = options.inputs;
  } else {
    inputs = sampleOf(reference.model(), options.sample, options.seed);
    report.sample =
        "random inputs of " + std::to_string(options.sample) + " tokens";
  }
  if (options.gradients)
    if (Status status =
            measureGradients(reference, inputs, options.seed, context, report);
        failed(status))
      return status;
  keepSums(reference.model());
  if (Status status = reference.run(inputs, outputs); failed(status))
    return status;
  for (auto [number, stack] : llvm::enumerate(report.stacks))
    takeMeasures(outputs, number, stack);
  return Status::done;
}

Status mille::analyzeCommand(const AnalyzeOptions &options,
                             mlir::MLIRContext &context,
                             llvm::raw_ostream &out) {
  Reference reference;
  if (Status status = openModel(options, context, reference); failed(status))
    return status;
  Report report;
  if (options.norms && reference.model()->hasAttr("weights")) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, options.subject, 0, 0))
        << "--norms is given but the model is without weights, whose norms it "
           "takes";
    return Status::commandLine;
  }
  if (Status status = predictAll(options, reference, report); failed(status))
    return status;
  if (options.gradients && options.sample == 0 && options.inputs.empty()) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, options.subject, 0, 0))
        << "--gradients is given but neither --sample nor --inputs: there are "
           "no tokens whose loss to differentiate";
    return Status::commandLine;
  }
  if (options.sample > 0 || !options.inputs.empty()) {
    if (reference.model()->hasAttr("weights")) {
      mlir::emitError(
          mlir::FileLineColLoc::get(&context, options.subject, 0, 0))
          << (options.inputs.empty() ? "--sample" : "--inputs")
          << " is given but the model is without weights: nothing can be "
             "measured";
      return Status::commandLine;
    }
    if (Status status = measureAll(options, context, reference, report);
        failed(status))
      return status;
  }
  for (StackAnalysis &stack : report.stacks)
    advise(stack, report.options);
  std::string json;
  llvm::raw_string_ostream text(json);
  writeJson(report, text);
  if (!options.html.empty())
    if (Status status =
            writePageFile(PageKind::depth, options.html,
                          "Depth of " + report.model, json, context);
        failed(status))
      return status;
  if (options.json)
    out << json;
  else
    writeText(report, options.units, out);
  return Status::done;
}
