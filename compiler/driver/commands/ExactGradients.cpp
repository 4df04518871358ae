// Connects the pass that differentiates with the interpreter and the analysis.
#include "compiler/driver/commands/ExactGradients.h"

#include "compiler/analyze/Read.h"
#include "compiler/differentiate/Passes.h"
#include "compiler/driver/train/StepInputs.h"
#include "dialects/kernel/Signature.h"
#include "dialects/transformer/Training.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mille;
using namespace mille::analyze;
using llvm::StringRef;

namespace {

double meanSquare(const Values &outputs, const std::string &name) {
  auto found = outputs.find(name);
  if (found == outputs.end() || found->second.numbers.empty())
    return 0;
  double sum = 0;
  for (double x : found->second.numbers)
    sum += x * x;
  return sum / double(found->second.numbers.size());
}

// The parameters that a unit names.
llvm::SetVector<StringRef> parametersOf(transformer::ResidualOp unit) {
  llvm::SetVector<StringRef> names;
  mlir::AttrTypeWalker walker;
  walker.addWalk(
      [&](mlir::FlatSymbolRefAttr symbol) { names.insert(symbol.getValue()); });
  unit->walk(
      [&](mlir::Operation *op) { walker.walk(op->getAttrDictionary()); });
  return names;
}

class Measurement {
public:
  Measurement(mlir::Operation *model, std::string folder, const Values &outputs)
      : model(model), values(model, std::move(folder)), outputs(outputs) {}

  // The changes of the loss by a first step of the unit's parameters: the sums
  // of g^2, of |g|, and of |g| times the parameter's length.
  mlir::LogicalResult update(transformer::ResidualOp unit,
                             ExactGradient &exact) {
    for (StringRef name : parametersOf(unit)) {
      auto found = outputs.find("gradient." + name.str());
      auto parameter = llvm::dyn_cast_or_null<transformer::ParameterOp>(
          mlir::SymbolTable::lookupSymbolIn(model, name));
      if (found == outputs.end() || !parameter)
        continue;
      auto value = values.evaluate(parameter.getValue(), parameter.getLoc());
      if (mlir::failed(value))
        return mlir::failure();
      double length = 0, absolute = 0;
      for (double w : value->numbers)
        length += w * w;
      for (double g : found->second.numbers) {
        exact.update[sgd] += g * g;
        absolute += std::fabs(g);
      }
      exact.update[adam] += absolute;
      exact.update[lamb] += absolute * std::sqrt(length);
    }
    return mlir::success();
  }

private:
  mlir::Operation *model;
  ParameterValues values;
  const Values &outputs;
};

} // namespace

Status mille::measureGradients(Reference &reference, const Values &inputs,
                               uint64_t seed, mlir::MLIRContext &context,
                               Report &report) {
  mlir::OwningOpRef<mlir::ModuleOp> module = reference.copy();
  auto model = *module->getOps<transformer::ModelOp>().begin();
  auto forward = kernel::forwardOf(model);
  differentiate::DifferentiateOptions options;
  options.keepUnits = true;
  bool logits = false;
  auto nameOf = [&](unsigned i) {
    auto name =
        forward.getResultAttrOfType<mlir::StringAttr>(i, "transformer.name");
    return name ? name.getValue() : StringRef();
  };
  for (unsigned i = 0; i < forward.getNumResults(); ++i)
    logits |= nameOf(i) == "logits";
  if (!logits) {
    options.loss = "given";
    options.of = nameOf(0).str();
  }
  // Before the pass adds entries, whose units are copies.
  const auto unitsOf = unitsByStack(model);
  mlir::PassManager passes(&context);
  passes.nest<transformer::ModelOp>().addPass(
      differentiate::createDifferentiate(options));
  if (mlir::failed(passes.run(*module)))
    return Status::input;

  StepShape shape;
  shape.seed = seed;
  if (auto ids = inputs.find("input_ids");
      ids != inputs.end() && ids->second.shape.size() == 2) {
    shape.batch = ids->second.shape[0];
    shape.tokens = ids->second.shape[1];
  }
  int64_t labels = 0;
  Values outputs, given = stepInputs(model, inputs, shape, labels);
  ParameterValues parameters(model, reference.storedIn());
  if (Status status =
          interpret(model, parameters, given, outputs, trainStepName);
      failed(status))
    return status;
  report.loss =
      logits ? "the cross-entropy of " + std::to_string(labels) + " labels"
             : "the product of " + std::string(options.of) +
                   " with random numbers";

  Measurement measurement(model, reference.storedIn(), outputs);
  llvm::DenseMap<mlir::Operation *, size_t> numbers;
  for (auto [number, unit] : llvm::enumerate(
           forward.getBody().front().getOps<transformer::ResidualOp>()))
    numbers[unit] = number;
  for (auto [stack, units] : llvm::zip(report.stacks, unitsOf)) {
    auto name = [&](mlir::Operation *unit) {
      return "gradient.unit." + std::to_string(numbers.lookup(unit));
    };
    const double atResult = meanSquare(outputs, name(units.back()) + ".result");
    const double start = 1 / double(report.options.simulation.width);
    for (transformer::ResidualOp unit : units) {
      ExactGradient exact;
      if (atResult > 0)
        exact.gradient = start * meanSquare(outputs, name(unit)) / atResult;
      if (mlir::failed(measurement.update(unit, exact)))
        return Status::input;
      for (size_t o = 0; o < exact.update.size(); ++o)
        stack.exactUpdate[o] += exact.update[o];
      stack.exact.push_back(exact);
    }
  }
  return Status::done;
}
