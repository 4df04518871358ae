// Makes the entries `train_step` and `eval` of the first entry. Must not know
// an op's derivative.
#include "compiler/differentiate/Adjoint.h"
#include "compiler/differentiate/Backward.h"
#include "compiler/differentiate/Balance.h"
#include "compiler/differentiate/Dropout.h"
#include "compiler/differentiate/Passes.h"
#include "compiler/differentiate/Segments.h"
#include "dialects/transformer/Training.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mille::differentiate {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "compiler/differentiate/Passes.h.inc"
} // namespace mille::differentiate

using namespace mlir;
using namespace mille::transformer;

void mille::differentiate::registerAdjoints(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TransformerDialect *) {
    attachRowAdjoints(context);
    attachAttentionAdjoints(context);
    attachExpertAdjoints(context);
    attachUnitAdjoint(context);
  });
}

namespace mille::differentiate {
namespace {

// An entry in the making: a copy of the first one, whose results are others.
class Entry {
public:
  Entry(func::FuncOp forward, StringRef name)
      : function(forward.clone()), builder(forward.getContext()) {
    function.setName(name);
    forward->getBlock()->getOperations().insertAfter(forward->getIterator(),
                                                     function);
    returned = cast<func::ReturnOp>(block().getTerminator());
    builder.setInsertionPoint(returned);
    SmallVector<KeepOp> keeps;
    function.walk([&](KeepOp keep) { keeps.push_back(keep); });
    for (KeepOp keep : keeps)
      keep.erase();
  }

  Block &block() { return function.getBody().front(); }

  // The number of the output `name`.
  std::optional<unsigned> output(StringRef name) {
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (function.getResultAttrOfType<StringAttr>(i, "transformer.name") ==
          name)
        return i;
    return std::nullopt;
  }

  // The shape of the input that the rows of a value are those of, if it says
  // one: a decoder's tokens are another size than an encoder's.
  ShapeAttr shapeOf(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!op->getNumOperands())
        return {};
      value = op->getOperand(0);
    }
    auto shape = function.getArgAttrOfType<ShapeAttr>(
        cast<BlockArgument>(value).getArgNumber(), "transformer.shape");
    return shape;
  }

  Value lossWeight() {
    return addInput(lossWeightName,
                    RankedTensorType::get({1}, builder.getF32Type()), {});
  }

  // An input that is there already, or null.
  Value input(StringRef name) {
    for (BlockArgument argument : function.getArguments())
      if (function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                "transformer.name") == name)
        return argument;
    return {};
  }

  // The same, or a new one, [1], which whoever runs steps knows.
  Value counter(StringRef name) {
    if (Value there = input(name))
      return there;
    return addInput(name, RankedTensorType::get({1}, builder.getI32Type()), {},
                    "none");
  }

  Value addInput(StringRef name, Type type, Attribute shape,
                 StringRef absent = "") {
    NamedAttrList attributes;
    attributes.set("transformer.name", builder.getStringAttr(name));
    if (!absent.empty())
      attributes.set("transformer.default", builder.getStringAttr(absent));
    if (shape)
      attributes.set("transformer.shape", shape);
    unsigned number = function.getNumArguments();
    LogicalResult done = function.insertArgument(
        number, type, attributes.getDictionary(function.getContext()),
        function.getLoc());
    assert(succeeded(done) && "a func takes arguments");
    (void)done;
    return function.getArgument(number);
  }

  // Makes `value` the only result; what nothing reads goes.
  void finish(Value value, StringRef name, Attribute shape) {
    NamedAttrList attributes;
    attributes.set("transformer.name", builder.getStringAttr(name));
    if (shape)
      attributes.set("transformer.shape", shape);
    builder.setInsertionPoint(returned);
    func::ReturnOp::create(builder, returned.getLoc(), value);
    returned.erase();
    function.setType(FunctionType::get(
        function.getContext(), function.getArgumentTypes(), value.getType()));
    function.setResAttrsAttr(
        builder.getArrayAttr(attributes.getDictionary(function.getContext())));
    SmallVector<Operation *> dead;
    do {
      for (Operation *op : dead)
        op->erase();
      dead.clear();
      function.walk([&](Operation *op) {
        if (isOpTriviallyDead(op))
          dead.push_back(op);
      });
    } while (!dead.empty());
  }

  func::FuncOp function;
  OpBuilder builder;
  func::ReturnOp returned;
};

struct Differentiate : impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    DifferentiateBase::getDependentDialects(registry);
    registerAdjoints(registry);
  }

  void runOnOperation() override {
    func::FuncOp forward = *getOperation().getOps<func::FuncOp>().begin();
    if (failed(makeStep(forward)) || failed(makeEval(forward)))
      signalPassFailure();
  }

private:
  // The loss of an entry, and the gradient of the output that it reads.
  struct Loss {
    Value output, value, gradient;
    std::string name;
    Attribute shape;
  };

  FailureOr<Loss> addLoss(Entry &entry, const Training &training,
                          double smoothing) {
    std::string name = of.getValue(), kind = loss.getValue();
    std::optional<unsigned> number = entry.output(name);
    if (!number)
      return entry.function.emitError() << "the loss reads the output '" << name
                                        << "' but there is none of that name";
    Value output = entry.returned.getOperand(*number);
    auto shape = entry.function.getResultAttrOfType<ShapeAttr>(
        *number, "transformer.shape");
    if (kind == "trained")
      switch (lossOf(training, output.getType())) {
      case mille::Loss::mean_squared_error:
        return addNumberLoss<SquaredErrorOp>(entry, output, shape, smoothing);
      case mille::Loss::binary_cross_entropy:
        return addNumberLoss<BinaryCrossEntropyOp>(entry, output, shape,
                                                   smoothing);
      default:
        return addCrossEntropy(entry, output, shape, smoothing);
      }
    if (kind != "given")
      return entry.function.emitError()
             << "loss is '" << kind << "' but must be trained or given";
    Value given = entry.addInput("gradient." + name, output.getType(), shape);
    return Loss{output, output, given, name, shape};
  }

  static mille::Loss lossOf(const Training &training, Type output) {
    if (training.loss != mille::Loss::by_output)
      return training.loss;
    return cast<ShapedType>(output).getShape().back() == 1
               ? mille::Loss::mean_squared_error
               : mille::Loss::cross_entropy;
  }

  // A label and a loss for each number.
  template <typename Op>
  static FailureOr<Loss> addNumberLoss(Entry &entry, Value output,
                                       ShapeAttr shape, double smoothing) {
    if (smoothing != 0)
      return entry.function.emitError()
             << "label_smoothing is " << formatDouble(smoothing)
             << " but labels are numbers, not classes";
    if (!shape && (shape = entry.shapeOf(output))) {
      OpBuilder &builder = entry.builder;
      ArrayRef<int64_t> own = cast<ShapedType>(output.getType()).getShape();
      SmallVector<Attribute> extents(
          ArrayRef(shape.getExtents()).take_front(own.size() - 1));
      extents.push_back(builder.getI64IntegerAttr(own.back()));
      shape = ShapeAttr::get(builder.getContext(), extents);
    }
    Value labels = entry.addInput(labelsName, output.getType(), shape);
    Value weight = entry.lossWeight();
    auto made = Op::create(entry.builder, output.getLoc(),
                           TypeRange{output.getType(), output.getType()},
                           output, labels, weight);
    return Loss{output, made.getLosses(), made.getGradient(), lossesName.str(),
                shape};
  }

  // Labels and losses have the logits' rows.
  static FailureOr<Loss> addCrossEntropy(Entry &entry, Value logits,
                                         ShapeAttr shape, double smoothing) {
    OpBuilder &builder = entry.builder;
    auto type = cast<RankedTensorType>(logits.getType());
    ArrayRef<int64_t> rows = type.getShape().drop_back();
    if (rows.empty() || type.isDynamicDim(type.getRank() - 1))
      return entry.function.emitError()
             << "the loss reads an output without classes, " << type;
    if (!shape)
      shape = entry.shapeOf(logits);
    if (shape)
      shape =
          ShapeAttr::get(builder.getContext(),
                         ArrayRef(shape.getExtents()).take_front(rows.size()));
    Value labels = entry.addInput(
        "labels", RankedTensorType::get(rows, builder.getI32Type()), shape);
    Value weight = entry.lossWeight();
    auto made = CrossEntropyOp::create(
        builder, logits.getLoc(),
        RankedTensorType::get(rows, builder.getF32Type()), logits.getType(),
        logits, labels, weight, builder.getI64IntegerAttr(-100),
        builder.getF64FloatAttr(smoothing));
    return Loss{logits, made.getLosses(), made.getGradient(), "losses", shape};
  }

  LogicalResult makeStep(func::FuncOp forward) {
    std::optional<RecomputePolicy> policy =
        recomputeNamed(recompute.getValue());
    if (!policy)
      return forward.emitError()
             << "recompute is '" << recompute.getValue()
             << "' but must be none, cheap, layer or segment:K, K from 1";
    FailureOr<Training> training = trainingOf(getOperation());
    if (failed(training))
      return failure();
    Entry entry(forward, trainStepName);
    FailureOr<Loss> made = addLoss(entry, *training, training->smoothing);
    if (failed(made))
      return failure();
    Balance balance;
    if (training->balance > 0 && loss.getValue() != "given") {
      FailureOr<Balance> added =
          addBalance(entry.function, entry.builder, training->balance,
                     made->value, entry.input(maskName));
      if (failed(added))
        return failure();
      balance = *added;
      made->value = balance.losses;
    }
    // Its inputs come after those that the loss has, which eval has too.
    if (training->dropout > 0)
      addDropout(entry.function, training->dropout, entry.counter(stepName),
                 entry.counter(firstSequenceName));
    SmallVector<LayersOp> segments;
    if (policy->segment) {
      segments = cutLayers(entry.block(), policy->segment);
      // A loop that gives the output is another one now.
      made->output = entry.returned.getOperand(*entry.output(of.getValue()));
    }
    SmallVector<Operation *> ops;
    for (Operation &op : entry.block().without_terminator())
      if (&op != made->gradient.getDefiningOp()) // the loss
        ops.push_back(&op);
    Activity activity(entry.block());
    Saved saved;
    Backward backward(activity, saved, entry.builder);
    if (keepUnits)
      backward.keepAt(llvm::to_vector(entry.block().getOps<ResidualOp>()));
    backward.computeAgain(segments);
    saved.choose(entry.block(), backward, policy->within);
    backward.add(made->output, made->gradient);
    if (balance.shares)
      backward.add(balance.shares, balance.gradient);
    if (failed(backward.run(ops)))
      return failure();
    saved.insert();
    entry.finish(made->value, made->name, made->shape);
    return success();
  }

  LogicalResult makeEval(func::FuncOp forward) {
    if (loss.getValue() == "given")
      return success();
    FailureOr<Training> training = trainingOf(getOperation());
    if (failed(training))
      return failure();
    Entry entry(forward, evaluateName);
    FailureOr<Loss> made = addLoss(entry, *training, 0);
    if (failed(made))
      return failure();
    entry.finish(made->value, made->name, made->shape);
    return success();
  }
};

} // namespace
} // namespace mille::differentiate
