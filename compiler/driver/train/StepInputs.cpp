// Draws what is not given, in the order of the entry's inputs.
#include "compiler/driver/train/StepInputs.h"

#include "compiler/driver/package/RandomNumbers.h"
#include "dialects/kernel/Signature.h"
#include "dialects/transformer/Training.h"

using namespace mille;
using llvm::StringRef;

static Value shapedAs(mlir::ShapedType type, const StepShape &shape) {
  Value value;
  value.integer = type.getElementType().isInteger();
  size_t count = 1;
  for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
    const bool open = mlir::ShapedType::isDynamic(extent);
    value.shape.push_back(!open       ? extent
                          : axis == 0 ? shape.batch
                                      : shape.tokens);
    count *= value.shape.back();
  }
  value.numbers.resize(count);
  return value;
}

// -100 where a token has no label.
static void drawLabels(Value &labels, const Value *ids, int64_t classes,
                       std::mt19937_64 &bits) {
  const int64_t tokens = labels.shape.back();
  for (int64_t i = 0; i < int64_t(labels.numbers.size()); ++i) {
    const bool none = i % tokens == tokens - 1 || i % 7 == 5;
    const double drawn = double(drawId(bits, classes));
    labels.numbers[i] = none ? -100 : ids ? ids->numbers[i + 1] : drawn;
  }
}

Values mille::stepInputs(mlir::Operation *model, const Values &given,
                         const StepShape &shape, int64_t &count) {
  auto step = kernel::entryOf(model, trainStepName);
  std::mt19937_64 bits(shape.seed);
  Values values;
  int64_t below = 0, classes = 0; // of ids, of labels
  step.walk([&](transformer::CrossEntropyOp op) {
    classes = llvm::cast<mlir::ShapedType>(op.getLogits().getType())
                  .getShape()
                  .back();
  });
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    auto name = step.getArgAttrOfType<mlir::StringAttr>(i, "transformer.name");
    if (!name)
      continue;
    const std::string key = name.str();
    auto bound =
        step.getArgAttrOfType<mlir::IntegerAttr>(i, "transformer.below");
    if (key == "input_ids" && bound)
      below = bound.getInt();
    if (auto found = given.find(key); found != given.end()) {
      values[key] = found->second;
      continue;
    }
    if (key == stepName || key == firstSequenceName) // of a trainer's first
      values[key] = Value{{1}, {0}, true};
    if (step.getArgAttr(i, "transformer.default") || key == lossWeightName)
      continue;
    Value value = shapedAs(
        llvm::cast<mlir::ShapedType>(step.getArgument(i).getType()), shape);
    if (key == labelsName && value.integer) {
      auto ids = values.find("input_ids");
      const bool alike = ids != values.end() &&
                         ids->second.shape == value.shape && below <= classes;
      drawLabels(value, alike ? &ids->second : nullptr, classes, bits);
    } else {
      for (double &number : value.numbers)
        number = value.integer
                     ? double(drawId(bits, bound ? bound.getInt() : 0))
                     : drawNumber(bits);
    }
    values[key] = std::move(value);
  }
  count = 0;
  if (auto labels = values.find(labelsName.str()); labels != values.end()) {
    const bool isNumber = !labels->second.integer;
    count = llvm::count_if(labels->second.numbers, [&](double label) {
      return isNumber || label != -100;
    });
    // As the runtime has it: a number of f32.
    values[lossWeightName.str()] = Value{
        {1}, {double(float(1 / double(std::max<int64_t>(1, count))))}, false};
  }
  return values;
}
