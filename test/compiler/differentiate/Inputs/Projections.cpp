// projections MODEL.mlir FOLDER prints, for each tensor of the model's weights
// file, the gradient of the cross-entropy along three fixed directions, in
// double:
//   NAME a b c
// Inputs are those of FOLDER; the label of row m is (7 m + 3) mod V, rows that
// the mask hides and every fifth row have none, and losses count 1/8. A
// parameter is a linear expression of stored tensors, so the gradient along a
// direction of a tensor is that of the parameters along what the expressions
// make of the direction.
#include "compiler/differentiate/Passes.h"
#include "compiler/interpret/Interpret.h"
#include "compiler/interpret/TensorFiles.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Signature.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

namespace {

// Element i of direction k, from -1 to 1.
double directionAt(uint64_t i, uint64_t k) {
  return double(uint32_t(i * 2654435761u + k * 1013904223u)) / 2147483648.0 - 1;
}

mille::Value labelsFor(int64_t batch, int64_t tokens, int64_t classes,
                       const mille::Value *mask, bool perSequence) {
  mille::Value labels;
  labels.integer = true;
  labels.shape = {batch};
  if (!perSequence)
    labels.shape.push_back(tokens);
  for (int64_t m = 0; m < batch * (perSequence ? 1 : tokens); ++m) {
    bool hidden =
        !perSequence && (m % 5 == 4 || (mask && mask->numbers[m] == 0));
    labels.numbers.push_back(hidden ? -100 : (7 * m + 3) % classes);
  }
  return labels;
}

LogicalResult fill(func::FuncOp step, Values &inputs) {
  Values known;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    std::string name =
        step.getArgAttrOfType<StringAttr>(i, "transformer.name").str();
    if (auto found = inputs.find(name); found != inputs.end())
      known.insert(*found);
  }
  const std::string of = inputs.count("decoder_input_ids") ? "decoder_" : "";
  auto mask = inputs.find(of + "attention_mask");
  auto ids = inputs.find(of + "input_ids"); // or else an image's pixels
  ArrayRef<int64_t> shape =
      (ids == inputs.end() ? inputs.at("pixel_values") : ids->second).shape;
  auto losses = cast<RankedTensorType>(step.getResultTypes()[0]);
  auto logits = cast<CrossEntropyOp>(
      *llvm::find_if(step.getBody().front(),
                     [](Operation &op) { return isa<CrossEntropyOp>(op); }));
  known["labels"] = labelsFor(
      shape[0], shape[1],
      cast<ShapedType>(logits.getLogits().getType()).getShape().back(),
      mask == inputs.end() ? nullptr : &mask->second, losses.getRank() == 1);
  known["loss_weight"] = {{1}, {0.125}, false};
  inputs = std::move(known);
  return success();
}

// The parameters' gradients along direction k of tensor `stored`.
FailureOr<double> along(ModelOp model, const Values &gradients,
                        StringRef folder, StoredAttr stored, uint64_t k) {
  MLIRContext *context = model.getContext();
  auto type = RankedTensorType::get(stored.getType().getShape(),
                                    Float32Type::get(context));
  auto put = [&](Attribute value, bool zero) {
    SmallVector<double> numbers(type.getNumElements());
    for (auto [i, number] : llvm::enumerate(numbers))
      number = zero ? 0 : directionAt(i, k);
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](StoredAttr found) -> std::optional<Attribute> {
      if (found.getName() != stored.getName())
        return std::nullopt;
      return NumbersAttr::get(context, DenseF64ArrayAttr::get(context, numbers),
                              type);
    });
    return replacer.replace(value);
  };
  double sum = 0;
  for (auto parameter : model.getOps<ParameterOp>()) {
    bool mentions = false;
    parameter.getValue().walk([&](StoredAttr found) {
      mentions |= found.getName() == stored.getName();
    });
    auto gradient = gradients.find("gradient." + parameter.getSymName().str());
    if (!mentions || gradient == gradients.end())
      continue;
    ParameterValues values(model, folder.str());
    Location at = parameter.getLoc();
    auto moved = values.evaluate(put(parameter.getValue(), false), at);
    auto still = values.evaluate(put(parameter.getValue(), true), at);
    if (failed(moved) || failed(still))
      return failure();
    for (auto [g, there, here] : llvm::zip_equal(
             gradient->second.numbers, moved->numbers, still->numbers))
      sum += g * (there - here);
  }
  return sum;
}

LogicalResult print(ModelOp model, StringRef folder) {
  MLIRContext &context = *model.getContext();
  Values inputs, gradients;
  func::FuncOp step = kernel::entryOf(model, "train_step");
  if (failed(readTensors((folder + "/inputs.safetensors").str(), context,
                         inputs)) ||
      failed(fill(step, inputs)))
    return failure();
  ParameterValues parameters(model, folder.str());
  if (failed(interpret(model, parameters, inputs, gradients, "train_step")))
    return failure();
  std::map<std::string, StoredAttr> tensors;
  for (auto parameter : model.getOps<ParameterOp>())
    parameter.getValue().walk([&](StoredAttr stored) {
      tensors.try_emplace(stored.getName().str(), stored);
    });
  for (auto &[name, stored] : tensors) {
    llvm::outs() << name;
    for (uint64_t k : {1, 2, 3}) {
      FailureOr<double> number = along(model, gradients, folder, stored, k);
      if (failed(number))
        return failure();
      llvm::outs() << llvm::format(" %.17g", *number);
    }
    llvm::outs() << "\n";
  }
  return success();
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  DialectRegistry registry;
  registry
      .insert<TransformerDialect, kernel::KernelDialect, func::FuncDialect>();
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = parseSourceFile<ModuleOp>(argv[1], sources, &context);
  if (!module)
    return 1;
  PassManager passes(&context);
  passes.addNestedPass<ModelOp>(differentiate::createDifferentiate());
  if (failed(passes.run(*module)))
    return 1;
  return failed(print(*module->getOps<ModelOp>().begin(), argv[2]));
}
