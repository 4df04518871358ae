// Makes inputs for measuring rewrites: random ones, and some that are hard for
// norms and sums. Must not run anything.
#include "compiler/driver/program/Trials.h"

#include "compiler/driver/package/RandomNumbers.h"
#include "compiler/interpret/Inputs.h"
#include "dialects/kernel/Signature.h"
#include "dialects/transformer/Grid.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mille;

namespace {

// The sizes of a trial differ, so that confusing two of them fails.
int64_t trialSize(llvm::StringRef name, bool isFew) {
  if (isFew) // the interpreter multiplies four rows at a time
    return name == sizes::batch ? 1 : 4;
  return name == sizes::batch ? 2 : name == sizes::tokens ? 5 : 3;
}

struct Kind {
  const char *name;
  double (*number)(size_t i, int64_t channels, double drawn);
};
const Kind kinds[] = {
    {"random", [](size_t, int64_t, double drawn) { return drawn; }},
    // Subtracting the mean in a layer norm cancels most bits.
    {"large mean", [](size_t, int64_t, double drawn) { return 1000 + drawn; }},
    // In a sum a few large numbers absorb the small ones.
    {"large and small",
     [](size_t i, int64_t, double drawn) {
       return drawn * std::pow(10.0, double(i % 9) - 4);
     }},
    // The variance of a row is far below eps; every other row is zero.
    {"equal rows",
     [](size_t i, int64_t channels, double drawn) {
       return i / channels % 2 ? 0.0 : 1 + 1e-4 * drawn;
     }},
};

bool isStream(mlir::func::FuncOp forward, unsigned i) {
  return interpreter::inputName(forward, i).starts_with("stream");
}

Value filled(mlir::func::FuncOp forward, unsigned i, const Kind &kind,
             bool isFew, std::mt19937_64 &bits) {
  Value value;
  size_t count = 1;
  for (const ShapeExtent &extent : interpreter::inputShape(forward, i))
    value.shape.push_back(extent.isSize() ? trialSize(extent.size, isFew)
                                          : extent.count);
  if (auto grid = transformer::gridOf(forward.getArgument(i)))
    for (unsigned axis : {0, 1}) // 2 x 3 patches
      value.shape[2 + axis] = std::max<int64_t>(
          (2 + axis) * grid.getPatch()[axis],
          llvm::alignTo(grid.getLeastOf(axis), grid.getMultiple(axis)));
  for (int64_t extent : value.shape)
    count *= extent;
  auto type = llvm::cast<mlir::ShapedType>(forward.getArgumentTypes()[i]);
  value.integer = type.getElementType().isInteger();
  auto below =
      forward.getArgAttrOfType<mlir::IntegerAttr>(i, "transformer.below");
  bool stream = isStream(forward, i);
  for (size_t at = 0; at < count; ++at) {
    double drawn = drawNumber(bits);
    if (value.integer)
      value.numbers.push_back(drawId(bits, below ? below.getInt() : 0));
    else
      value.numbers.push_back(
          float(stream ? kind.number(at, value.shape.back(), drawn) : drawn));
  }
  return value;
}

} // namespace

std::vector<Trial> mille::trialsFor(transformer::ModelOp model, bool all) {
  mlir::func::FuncOp forward = kernel::forwardOf(model);
  std::vector<Trial> trials;
  for (const Kind &kind :
       llvm::ArrayRef(kinds).take_front(all ? std::size(kinds) : 1)) {
    std::mt19937_64 bits(1);
    Trial trial{kind.name, {}};
    for (unsigned i = 0; i < forward.getNumArguments(); ++i)
      if (!forward.getArgAttr(i, "transformer.default"))
        trial.inputs[interpreter::inputName(forward, i).str()] =
            filled(forward, i, kind, !all, bits);
    trials.push_back(std::move(trial));
  }
  return trials;
}

int64_t mille::rowsOf(transformer::ModelOp model) {
  mlir::func::FuncOp forward = kernel::forwardOf(model);
  int64_t most = trialSize(sizes::tokens, true);
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    if (!isStream(forward, i))
      continue;
    int64_t rows = 1;
    auto shape = interpreter::inputShape(forward, i);
    for (const ShapeExtent &extent : llvm::ArrayRef(shape).drop_back())
      rows *= extent.isSize() ? trialSize(extent.size, true) : extent.count;
    most = std::max(most, rows);
  }
  return most;
}

void mille::moveByRounding(Values &inputs, double rounding) {
  std::mt19937_64 bits(2);
  for (auto &[name, value] : inputs)
    if (!value.integer)
      for (double &number : value.numbers)
        number *= bits() & 1024 ? 1 + rounding * 2 : 1 - rounding * 2;
}
