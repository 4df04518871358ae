// differences MODEL.mlir [OPTION...] compares the gradient of every parameter
// with central differences of the interpreter, in double. Options:
//   --recompute=none|cheap|layer|segment:K   what the backward pass computes
//                   anew
//   --of=OUTPUT     the loss is <c, OUTPUT> with random numbers c, not the
//                   cross-entropy of logits
//   --batch=N --tokens=N --seed=N
//   --kernels       compares them with the gradients of the program of fused
//                   kernels instead, whose constants are f32: within 3e-6 of
//                   each gradient's length
// Inputs are drawn. A parameter moves along one random direction d: its
// gradient must be (L(w + h d) - L(w - h d)) / 2h along it, within 1e-6 of the
// gradient's length. Parameters get random numbers first, so that no gradient
// is small by itself.
#include "compiler/differentiate/Passes.h"
#include "compiler/fuse/Passes.h"
#include "compiler/interpret/Interpret.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Signature.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

namespace {

struct Wishes {
  std::string model, recompute = "cheap", of;
  int64_t batch = 2, tokens = 5;
  bool kernels = false;
  unsigned seed = 1;
};

// A number of N(0, 1), the same on every machine.
class Draw {
public:
  explicit Draw(unsigned seed) : engine(seed) {}
  double normal() {
    double u = (engine() + 1.0) / 4294967297.0, v = engine() / 4294967296.0;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
  }
  int64_t below(int64_t n) { return engine() % n; }

private:
  std::mt19937 engine;
};

class Check {
public:
  Check(ModelOp model, const Wishes &wishes)
      : model(model), wishes(wishes), draw(wishes.seed) {}

  int run() {
    func::FuncOp step = kernel::entryOf(model, "train_step");
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      drawInput(step, i);
    for (auto parameter : model.getOps<ParameterOp>())
      if (failed(spread(parameter)))
        return 1;
    Values outputs;
    if (failed(interpreted(outputs)))
      return 1;
    if (wishes.kernels)
      return compareKernels(outputs);
    int wrong = 0, count = 0;
    for (auto parameter : model.getOps<ParameterOp>()) {
      auto found = outputs.find("gradient." + parameter.getSymName().str());
      Value none;
      wrong +=
          !agrees(parameter, found == outputs.end() ? none : found->second);
      ++count;
    }
    llvm::outs() << count << " gradients, " << wrong << " wrong, worst "
                 << llvm::format("%.1e", worst) << "\n";
    return wrong != 0;
  }

private:
  using Value = mille::Value;

  int compareKernels(const Values &wanted) {
    if (auto forward = kernel::forwardOf(model))
      forward.erase();
    PassManager passes(model->getContext());
    addFusePipeline(passes);
    Values outputs;
    if (failed(passes.run(model->getParentOfType<ModuleOp>())) ||
        failed(interpreted(outputs)))
      return 1;
    int wrong = 0, count = 0;
    for (const auto &[name, value] : wanted) {
      const auto found = outputs.find(name);
      wrong += !isNear(name, value,
                       found == outputs.end() ? Value() : found->second);
      ++count;
    }
    llvm::outs() << count << " values of kernels, " << wrong << " wrong, worst "
                 << llvm::format("%.1e", worst) << "\n";
    return wrong != 0 || count < 2;
  }

  bool isNear(StringRef name, const Value &wanted, const Value &got) {
    double apart = 0, length = 0;
    for (size_t i = 0; i < wanted.numbers.size(); ++i) {
      const double other =
          got.numbers.empty() ? 0.0 : got.numbers[i % got.numbers.size()];
      apart += std::pow(other - wanted.numbers[i], 2);
      length += std::pow(wanted.numbers[i], 2);
    }
    const double error = std::sqrt(apart) / std::max(std::sqrt(length), 1e-3);
    worst = std::max(worst, std::isfinite(error) ? error : 1e9);
    const bool sizes = got.numbers.size() == wanted.numbers.size() ||
                       (got.numbers.empty() && length == 0);
    if (error < 3e-6 && sizes)
      return true;
    llvm::outs() << name << " has " << got.numbers.size() << " numbers of "
                 << wanted.numbers.size() << ", apart by "
                 << llvm::format("%.1e", error) << " of its length\n";
    return false;
  }

  void drawInput(func::FuncOp step, unsigned i) {
    auto name =
        step.getArgAttrOfType<StringAttr>(i, "transformer.name").getValue();
    auto type = cast<RankedTensorType>(step.getArgumentTypes()[i]);
    Value value;
    int64_t count = 1;
    for (auto [d, extent] : llvm::enumerate(type.getShape())) {
      value.shape.push_back(!ShapedType::isDynamic(extent) ? extent
                            : d == 0                       ? wishes.batch
                                                           : wishes.tokens);
      count *= value.shape.back();
    }
    value.integer = type.getElementType().isInteger();
    auto below = step.getArgAttrOfType<IntegerAttr>(i, "transformer.below");
    for (int64_t n = 0; n < count; ++n)
      value.numbers.push_back(
          name == "labels" ? (n % 4 == 3 ? -100 : draw.below(classes()))
          : name == "attention_mask" ? (n + 1 < count ? 1 : 0)
          : name == "position_ids"   ? n % wishes.tokens
          : name == "step"           ? 4
          : value.integer            ? draw.below(below ? below.getInt() : 2)
          : name == "loss_weight"    ? 0.5
                                     : draw.normal());
    inputs[name.str()] = value;
  }

  int64_t classes() {
    func::FuncOp forward = kernel::entryOf(model, "");
    for (unsigned i = 0; i < forward.getNumResults(); ++i)
      if (forward.getResultAttrOfType<StringAttr>(i, "transformer.name") ==
          "logits")
        return cast<ShapedType>(forward.getResultTypes()[i]).getShape().back();
    return 1;
  }

  // Gives a parameter numbers of its own, so that no gradient is small by
  // itself.
  LogicalResult spread(ParameterOp parameter) {
    ParameterValues values(model, folder());
    auto value = values.evaluate(parameter.getValue(), parameter.getLoc());
    if (failed(value))
      return failure();
    double scale =
        value->shape.size() == 1 ? 0.3 : 1 / std::sqrt(value->shape.back());
    for (double &number : value->numbers)
      number = (value->shape.size() == 1 ? number : 0) + scale * draw.normal();
    set(parameter, value->numbers);
    return success();
  }

  void set(ParameterOp parameter, ArrayRef<double> numbers) {
    auto *context = model.getContext();
    parameter.setValueAttr(
        NumbersAttr::get(context, DenseF64ArrayAttr::get(context, numbers),
                         cast<RankedTensorType>(parameter.getType())));
  }

  std::string folder() { return "."; }

  LogicalResult interpreted(Values &outputs) {
    ParameterValues parameters(model, folder());
    return failed(interpret(model, parameters, inputs, outputs, "train_step"))
               ? failure()
               : success();
  }

  FailureOr<double> lossAt(ParameterOp parameter, ArrayRef<double> numbers) {
    set(parameter, numbers);
    Values outputs;
    if (failed(interpreted(outputs)))
      return failure();
    if (wishes.of.empty()) {
      double sum = 0;
      for (double loss : outputs["losses"].numbers)
        sum += loss;
      return sum;
    }
    double sum = 0;
    for (auto [c, x] : llvm::zip_equal(inputs["gradient." + wishes.of].numbers,
                                       outputs[wishes.of].numbers))
      sum += c * x;
    return sum;
  }

  // Whether no step changes number i: it has no gradient.
  static bool isFixed(ParameterOp parameter, size_t i) {
    auto fixed = parameter.getFixedRows();
    auto type = cast<RankedTensorType>(parameter.getType());
    if (!fixed)
      return false;
    const int64_t row = i / (type.getNumElements() / type.getDimSize(0)),
                  place = row % (*fixed)[0] - (*fixed)[1];
    return place >= 0 && place < (*fixed)[2];
  }

  bool agrees(ParameterOp parameter, const Value &gradient) {
    ArrayRef<double> at =
        cast<NumbersAttr>(parameter.getValue()).getNumbers().asArrayRef();
    std::vector<double> start = at.vec(), direction, moved(start.size());
    for (size_t i = 0; i < start.size(); ++i)
      direction.push_back(draw.normal() * !isFixed(parameter, i));
    double along = 0, length = 0;
    for (size_t i = 0; i < gradient.numbers.size(); ++i) {
      along += gradient.numbers[i] * direction[i];
      length += gradient.numbers[i] * gradient.numbers[i];
    }
    auto lossAfter = [&](double step) {
      for (size_t i = 0; i < start.size(); ++i)
        moved[i] = start[i] + step * direction[i];
      return lossAt(parameter, moved).value_or(NAN);
    };
    // A kink (relu) between the four points spoils a difference: shorter steps
    // miss it.
    double error = 1e9, difference = 0;
    for (double h : {2e-4, 1e-5, 1e-6}) {
      // Richardson's formula: the error is of the fourth order.
      double narrow = (lossAfter(h) - lossAfter(-h)) / (2 * h);
      double wide = (lossAfter(2 * h) - lossAfter(-2 * h)) / (4 * h);
      difference = (4 * narrow - wide) / 3;
      error = std::fabs(difference - along) /
              std::max({std::sqrt(length), std::fabs(difference), 1e-3});
      if (error < 1e-6)
        break;
    }
    set(parameter, start);
    worst = std::max(worst, std::isfinite(error) ? error : 1e9);
    if (error < 1e-6)
      return true;
    llvm::outs() << parameter.getSymName() << ": " << along
                 << " along a direction but differences say " << difference
                 << "\n";
    return false;
  }

  ModelOp model;
  const Wishes &wishes;
  Draw draw;
  Values inputs;
  double worst = 0;
};

} // namespace

int main(int argc, char **argv) {
  Wishes wishes;
  for (StringRef word : ArrayRef(argv + 1, argc - 1)) {
    if (word.consume_front("--recompute="))
      wishes.recompute = word.str();
    else if (word == "--kernels")
      wishes.kernels = true;
    else if (word.consume_front("--of="))
      wishes.of = word.str();
    else if (word.consume_front("--batch="))
      word.getAsInteger(10, wishes.batch);
    else if (word.consume_front("--tokens="))
      word.getAsInteger(10, wishes.tokens);
    else if (word.consume_front("--seed="))
      word.getAsInteger(10, wishes.seed);
    else
      wishes.model = word.str();
  }
  DialectRegistry registry;
  registry
      .insert<TransformerDialect, kernel::KernelDialect, func::FuncDialect,
              arith::ArithDialect, math::MathDialect, tensor::TensorDialect>();
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = parseSourceFile<ModuleOp>(wishes.model, sources, &context);
  if (!module)
    return 1;
  differentiate::DifferentiateOptions options;
  options.recompute = wishes.recompute;
  if (!wishes.of.empty()) {
    options.of = wishes.of;
    options.loss = "given";
  }
  PassManager passes(&context);
  passes.addNestedPass<ModelOp>(differentiate::createDifferentiate(options));
  if (failed(passes.run(*module)))
    return 1;
  return Check(*module->getOps<ModelOp>().begin(), wishes).run();
}
