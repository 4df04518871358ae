// Walks a block and dispatches op by op. Must not know arithmetic.
#include "compiler/interpret/Run.h"
#include "dialects/kernel/OpList.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

Attribute Run::inLayer(FlatSymbolRefAttr name) const {
  return layer ? layer->columns.lookup(name.getValue()) : Attribute();
}

Status Run::parameter(Attribute value, Location location, Tensor &into) {
  auto column = [&](FlatSymbolRefAttr name) { return inLayer(name); };
  FailureOr<ParameterTensor> found =
      parameters.evaluate(value, location, column);
  if (failed(found))
    return Status::input;
  into.shape = std::move(found->shape);
  into.numbers = std::move(found->numbers);
  into.integer = false;
  return Status::done;
}

Status
Run::parameterRows(Attribute value, Location location,
                   llvm::function_ref<void(int64_t, ArrayRef<double>)> take) {
  auto column = [&](FlatSymbolRefAttr name) { return inLayer(name); };
  return failed(parameters.evaluateRows(value, location, column, take))
             ? Status::input
             : Status::done;
}

std::optional<double> Run::column(FlatSymbolRefAttr name) {
  if (!layer)
    return std::nullopt;
  auto number =
      dyn_cast_or_null<FloatAttr>(layer->columns.lookup(name.getValue()));
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

void Run::keep(StringRef name, int64_t index, const Tensor &tensor) {
  Tensor &entry = kept[name.str()][index + (layer ? layer->index : 0)];
  entry = tensor;
  int64_t columns = columnsOf(tensor);
  int64_t batch = sizes.lookup(mille::sizes::batch);
  entry.shape = {batch, rowsOf(tensor) / batch, columns};
}

Tensor *Run::gradient(Operation *op, FlatSymbolRefAttr name) {
  if (layer)
    if (Attribute entry = layer->columns.lookup(name.getValue()))
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(entry))
        name = symbol;
  auto found = gradients.find(name.getValue().str());
  if (found != gradients.end())
    return &found->second;
  auto parameter =
      SymbolTable::lookupNearestSymbolFrom<transformer::ParameterOp>(op, name);
  if (!parameter) {
    op->emitError() << name << " is not a parameter";
    return nullptr;
  }
  auto shape = cast<ShapedType>(parameter.getType()).getShape();
  return &(gradients[name.getValue().str()] = zeros(shape.vec()));
}

Status mille::interpreter::expectCount(Operation *op, StringRef name,
                                       const Tensor *tensor, int64_t count) {
  if (!tensor || int64_t(tensor->numbers.size()) == count)
    return Status::done;
  op->emitError() << name << " has " << tensor->numbers.size()
                  << " numbers but must have " << count;
  return Status::input;
}

void Run::set(mlir::Value value, Tensor tensor) {
  // Null of a planned op, which has no results.
  auto type = value ? dyn_cast<ShapedType>(value.getType()) : ShapedType();
  if (type && type.getElementType().isBF16())
    for (double &number : tensor.numbers)
      number = number == 0 ? number : roundedToBfloat16(number);
  if (type && type.getElementType().isF16())
    for (double &number : tensor.numbers)
      number = number == 0 ? number : roundedToHalf(number);
  tensors[value] = std::move(tensor);
}

namespace {

// Ops without a step in a run: those that hold or end blocks, and the arena's
// buffers, which planned programs have.
template <typename Op>
constexpr bool isStep =
    !llvm::is_one_of<Op, transformer::ModelOp, transformer::ParameterOp,
                     transformer::YieldOp, kernel::YieldOp,
                     kernel::ArenaOp>::value;

// Whether somebody else has run the op.
bool runInstead(Run &run, Operation *op) {
  if (!run.instead || !kernel::isGenerated(op))
    return false;
  SmallVector<const Tensor *> operands;
  for (mlir::Value operand : op->getOperands()) {
    auto found = run.tensors.find(operand);
    operands.push_back(found == run.tensors.end() ? nullptr : &found->second);
  }
  std::vector<Tensor> tensors = run.instead(op, operands);
  for (auto [result, tensor] : llvm::zip(op->getResults(), tensors))
    run.set(result, std::move(tensor));
  return !tensors.empty();
}

// An op without a runOp gives a compile error here.
Status dispatch(Run &run, Operation *op) {
  if (runInstead(run, op))
    return Status::done;
  auto step = [&](auto known) {
    if constexpr (isStep<decltype(known)>)
      return runOp(run, known);
    else
      return runSizes(run, known);
  };
  return transformer::Ops::visit<Status>(op, step, [&](Operation *other) {
    return kernel::Ops::visit<Status>(
        other, step, [&](Operation *size) { return runSizes(run, size); });
  });
}

// Values defined in `block`, by the op of the block that uses them last.
llvm::DenseMap<Operation *, SmallVector<mlir::Value>> lastUses(Block &block) {
  llvm::DenseMap<Operation *, SmallVector<mlir::Value>> last;
  auto find = [&](mlir::Value value) {
    Operation *latest = nullptr;
    for (Operation *user : value.getUsers()) {
      Operation *ancestor = block.findAncestorOpInBlock(*user);
      if (ancestor && (!latest || latest->isBeforeInBlock(ancestor)))
        latest = ancestor;
    }
    if (latest)
      last[latest].push_back(value);
  };
  for (BlockArgument argument : block.getArguments())
    find(argument);
  for (Operation &op : block)
    for (mlir::Value result : op.getResults())
      find(result);
  return last;
}

} // namespace

Status mille::interpreter::runBlock(Run &run, Block &block) {
  auto last = lastUses(block);
  for (Operation &op : block.without_terminator()) {
    if (Status status = dispatch(run, &op); failed(status))
      return status;
    // The map is used for lookup only; nothing iterates over it.
    for (mlir::Value value : last.lookup(&op))
      run.tensors.erase(value);
  }
  return Status::done;
}
