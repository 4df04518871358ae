// The function, its arguments and its layer loop, from `transformer` to `kernel`.
// Must not fuse.
#include "compiler/fuse/Activations.h"
#include "compiler/fuse/Converter.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mille {
#define GEN_PASS_DEF_CONVERTTOKERNEL
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille;

namespace {

// [batch, tokens, channels] -> [rows, channels]; ids [batch, tokens] -> [rows].
Type flattened(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() < 2)
    return type;
  SmallVector<int64_t> shape{ShapedType::kDynamic};
  if (!tensor.getElementType().isInteger())
    shape.push_back(tensor.getShape().back());
  return RankedTensorType::get(shape, tensor.getElementType());
}

// A type's shape in the words of transformer.shape: -1 batch, -2 tokens.
Attribute shapeOf(Type type) {
  SmallVector<int64_t> shape;
  for (int64_t extent : cast<RankedTensorType>(type).getShape())
    shape.push_back(ShapedType::isDynamic(extent) ? -1 - int64_t(shape.size())
                                                  : extent);
  return DenseI64ArrayAttr::get(type.getContext(), shape);
}

Attribute withShape(DictionaryAttr attributes, Type type) {
  NamedAttrList list(attributes);
  if (isa<RankedTensorType>(type))
    list.set("transformer.shape", shapeOf(type));
  return list.getDictionary(type.getContext());
}

} // namespace

func::FuncOp Converter::makeFunction() {
  FunctionType type = function.getFunctionType();
  Type index = head.getIndexType();
  SmallVector<Type> inputs{index, index}, results;
  SmallVector<Attribute> inputWords(2, head.getDictionaryAttr({})), resultWords;
  for (auto [i, input] : llvm::enumerate(type.getInputs())) {
    inputs.push_back(flattened(input));
    inputWords.push_back(withShape(function.getArgAttrDict(i), input));
  }
  for (auto [i, result] : llvm::enumerate(type.getResults())) {
    results.push_back(flattened(result));
    resultWords.push_back(withShape(function.getResultAttrDict(i), result));
  }
  head.setInsertionPoint(function);
  auto converted =
      func::FuncOp::create(head, function.getLoc(), function.getName(),
                           head.getFunctionType(inputs, results));
  converted->setDiscardableAttrs(function->getDiscardableAttrDictionary());
  converted.setArgAttrsAttr(head.getArrayAttr(inputWords));
  converted.setResAttrsAttr(head.getArrayAttr(resultWords));
  Block *entry = converted.addEntryBlock();
  batch = entry->getArgument(0);
  tokens = entry->getArgument(1);
  for (auto [from, to] : llvm::zip(function.getArguments(),
                                   entry->getArguments().drop_front(2)))
    values[from] = to;
  return converted;
}

LogicalResult Converter::run() {
  func::FuncOp converted = makeFunction();
  Block &entry = converted.front();
  Location location = function.getLoc();
  body.setInsertionPointToEnd(&entry);
  allRows = arith::MulIOp::create(body, location, batch, tokens);
  zero = arith::ConstantIndexOp::create(body, location, 0);
  // `head` stays before this op, which goes when all is done.
  auto border = arith::ConstantIndexOp::create(body, location, 0);
  head.setInsertionPoint(border);
  LogicalResult done = convertBlock(function.front());
  border.erase();
  if (zero.use_empty())
    zero.getDefiningOp()->erase();
  if (failed(done)) {
    converted.erase();
    return failure();
  }
  function.erase();
  return success();
}

LogicalResult Converter::convertBlock(Block &block) {
  for (Operation &op : block)
    if (failed(convert(&op)))
      return failure();
  return success();
}

LogicalResult Converter::convert(Operation *op) {
  using namespace transformer;
  auto activation = [](Activation function) {
    return [function](OpBuilder &builder, Location location, ValueRange x) {
      Value active = applyActivation(builder, location, function, x[0]);
      return x.size() == 1
                 ? active
                 : arith::MulFOp::create(builder, location, active, x[1]);
    };
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](EmbedOp op) { return convertEmbed(op); })
      .Case([&](LinearOp op) { return convertLinear(op); })
      .Case([&](AttendOp op) { return convertAttend(op); })
      .Case([&](RotateOp op) { return convertRotate(op); })
      .Case([&](PositionBiasOp op) { return convertPositionBias(op); })
      .Case([&](PoolOp op) { return convertPool(op); })
      .Case([&](ResidualOp op) { return convertResidual(op); })
      .Case([&](LayersOp op) { return convertLayers(op); })
      .Case([&](NormOp op) {
        values[op.getResult()] = norm(op.getLoc(), op.getNorm(),
                                      valueOf(op.getInput()), rowsOf(op.getInput()));
        return success();
      })
      .Case([&](ActivateOp op) {
        return convertElementwise(op, activation(op.getFunction()));
      })
      .Case([&](GateOp op) {
        return convertElementwise(op, activation(op.getFunction()));
      })
      .Case([&](SoftcapOp op) {
        double cap = op.getCap().convertToDouble();
        return convertElementwise(op, [&](OpBuilder &builder, Location location,
                                          ValueRange x) -> Value {
          Value limit = constant(builder, location, cap);
          Value share = arith::DivFOp::create(builder, location, x[0], limit);
          Value bent = math::TanhOp::create(builder, location, share);
          return arith::MulFOp::create(builder, location, limit, bent);
        });
      })
      .Case([&](KeepOp op) {
        kernel::KeepOp::create(body, op.getLoc(), valueOf(op.getInput()),
                               op.getName(), op.getIndex());
        return success();
      })
      .Case([&](func::ReturnOp op) {
        SmallVector<Value> results;
        for (Value result : op.getOperands())
          results.push_back(valueOf(result));
        func::ReturnOp::create(body, op.getLoc(), results);
        return success();
      })
      .Case([&](YieldOp) { return success(); })
      .Default([](Operation *op) {
        return op->emitOpError("has no kernel that does it");
      });
}

LogicalResult Converter::convertLayers(transformer::LayersOp op) {
  Value stream = valueOf(op.getInput());
  OperationState state(op.getLoc(), kernel::LayersOp::getOperationName());
  kernel::LayersOp::build(body, state, TypeRange(stream.getType()), stream,
                          op.getSlots(), op.getBodiesAttr(), op.getTable(),
                          op.getBodyRegions().size());
  auto layers = cast<kernel::LayersOp>(body.create(state));
  for (auto [number, from] : llvm::enumerate(op.getBodyRegions())) {
    OpBuilder::InsertionGuard guard(body);
    Block *block = body.createBlock(&layers.getBodyRegions()[number], {},
                                    stream.getType(), op.getLoc());
    values[from.getArgument(0)] = block->getArgument(0);
    columns.clear();
    layer = block;
    lastWeight = nullptr;
    size_t user = llvm::find(op.getBodies(), int64_t(number)) -
                  op.getBodies().begin();
    for (auto [name, entry] :
         llvm::zip(cast<ArrayAttr>(op.getSlots()[number]),
                   cast<ArrayAttr>(op.getTable()[user])))
      columns[cast<StringAttr>(name)] = entry;
    if (failed(convertBlock(from.front())))
      return failure();
    kernel::YieldOp::create(body, op.getLoc(),
                            valueOf(from.front().getTerminator()->getOperand(0)));
  }
  columns.clear();
  layer = nullptr;
  values[op.getResult()] = layers.getOutcomes().front();
  return success();
}

Value Converter::weight(Location location, Attribute value) {
  bool perLayer = false;
  transformer::forEachSymbol(value, [&](FlatSymbolRefAttr symbol) {
    perLayer |= columns.count(symbol.getAttr());
  });
  Value &known = weights[{value, perLayer ? layer : nullptr}];
  if (known)
    return known;
  auto resolve = [&](FlatSymbolRefAttr symbol) -> Attribute {
    if (Attribute entry = columns.lookup(symbol.getAttr())) {
      auto named = dyn_cast<FlatSymbolRefAttr>(entry);
      if (!named)
        return entry;
      symbol = named;
    }
    auto parameter = symbols.lookup<transformer::ParameterOp>(symbol.getAttr());
    return parameter ? parameter.getValue() : Attribute();
  };
  std::string why;
  auto type = transformer::valueType(value, resolve, why);
  if (failed(type)) {
    emitError(location) << "a parameter's value " << value << " " << why;
    return {};
  }
  if (!perLayer)
    return known = kernel::WeightOp::create(head, location, *type, value);
  OpBuilder::InsertionGuard guard(body);
  if (lastWeight)
    body.setInsertionPointAfter(lastWeight);
  else
    body.setInsertionPointToStart(layer);
  lastWeight = kernel::WeightOp::create(body, location, *type, value);
  return known = lastWeight->getResult(0);
}

Value Converter::rowsOf(Value original) {
  auto type = cast<RankedTensorType>(original.getType());
  return type.getRank() == 2 && !type.getElementType().isInteger() ? batch
                                                                   : allRows;
}

Value Converter::once(ArrayRef<const void *> key,
                      llvm::function_ref<Value()> make) {
  for (auto &[known, value] : made)
    if (ArrayRef(known) == key)
      return value;
  Value value = make();
  made.emplace_back(llvm::to_vector(key), value);
  return value;
}

namespace {

struct ConvertToKernel : mille::impl::ConvertToKernelBase<ConvertToKernel> {
  void runOnOperation() override {
    auto functions = llvm::to_vector(
        getOperation().getBody().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      // Done already: kernel functions begin with batch and tokens.
      if (function.getNumArguments() >= 2 &&
          function.getArgumentTypes().front().isIndex())
        continue;
      if (failed(Converter(getOperation(), function).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
