// Converts a function, its arguments and its layer loop from `transformer` to
// `kernel`. Must not fuse.
#include "compiler/fuse/Activations.h"
#include "compiler/fuse/Converter.h"
#include "dialects/kernel/Signature.h"
#include "dialects/transformer/Grid.h"
#include "dialects/transformer/UnitNames.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mille {
#define GEN_PASS_DEF_CONVERTTOKERNEL
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille;

namespace {

// An image or a spectrogram: a row per batch entry, all its pixels.
bool isPixels(Value argument) {
  return llvm::any_of(argument.getUsers(), [](Operation *user) {
    return isa<transformer::PatchesOp, transformer::PatchTableOp,
               transformer::PatchRotationOp, transformer::WindowSegmentsOp>(
        user);
  });
}

// [batch, tokens, channels] -> [rows, channels]; numbers [batch, tokens] ->
// [rows, 1], ids -> [rows];
// pixels [batch, c, h, w] -> [batch, c * h * w], or [batch * c * h * w] where h
// and w are sizes of the run.
Type flattened(Type type, bool isPixels = false) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && tensor.getRank() == 1 && tensor.isDynamicDim(0) &&
      isa<FloatType>(tensor.getElementType())) // a number for each sequence
    return RankedTensorType::get({ShapedType::kDynamic, 1},
                                 tensor.getElementType());
  if (!tensor || tensor.getRank() < 2)
    return type;
  SmallVector<int64_t> shape{ShapedType::kDynamic};
  const bool isSized = isPixels && tensor.isDynamicDim(tensor.getRank() - 1);
  if (isSized)
    return RankedTensorType::get(shape, tensor.getElementType());
  if (isPixels)
    shape.push_back(ShapedType::getNumElements(tensor.getShape().drop_front()));
  else if (!tensor.getElementType().isInteger())
    shape.push_back(tensor.isDynamicDim(tensor.getRank() - 1)
                        ? 1 // a number for each token
                        : tensor.getShape().back());
  return RankedTensorType::get(shape, tensor.getElementType());
}

// A state [entries, batch, rows, columns] -> [entries, rows, columns], of ids
// [entries, rows].
Type flattenedState(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape{tensor.getDimSize(0), ShapedType::kDynamic};
  if (!tensor.getElementType().isInteger())
    shape.push_back(tensor.getDimSize(3));
  return RankedTensorType::get(shape, tensor.getElementType());
}

// The size of the run that argument `number` declares as its tokens, or "".
StringRef tokenSize(func::FuncOp function, unsigned number) {
  auto shape = function.getArgAttrOfType<transformer::ShapeAttr>(
      number, "transformer.shape");
  if (!shape || shape.getExtents().size() < 2)
    return "";
  auto size = dyn_cast<StringAttr>(shape.getExtents()[1]);
  return size ? size.getValue() : StringRef();
}

// The sizes of the run that the entry's rows are counted by.
SmallVector<StringRef> sizesOf(func::FuncOp function) {
  SmallVector<StringRef> names{sizes::batch, sizes::tokens};
  auto add = [&](StringRef name) {
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  };
  for (BlockArgument argument : function.getArguments()) {
    if (auto shape = function.getArgAttrOfType<transformer::ShapeAttr>(
            argument.getArgNumber(), "transformer.shape"))
      for (Attribute extent : shape.getExtents())
        if (auto size = dyn_cast<StringAttr>(extent))
          add(size.getValue());
    if (auto grid = transformer::gridOf(argument)) {
      add(grid.getTokens());
      for (transformer::PartAttr part : grid.getParts())
        add(part.getTokens());
    }
  }
  return names;
}

Attribute withShape(DictionaryAttr attributes, Attribute shape) {
  NamedAttrList list(attributes);
  list.set("transformer.shape", shape);
  return list.getDictionary(shape.getContext());
}

} // namespace

// The results' attributes are set when their rows are known: see convertReturn.
func::FuncOp Converter::makeFunction() {
  SmallVector<Type> inputs, results;
  SmallVector<Attribute> words;
  SmallVector<StringRef> names = sizesOf(function);
  for (StringRef name : names) {
    inputs.push_back(head.getIndexType());
    words.push_back(head.getDictionaryAttr(
        head.getNamedAttr("kernel.size", head.getStringAttr(name))));
  }
  for (BlockArgument argument : function.getArguments()) {
    if (kernel::isState(function, argument.getArgNumber())) {
      inputs.push_back(flattenedState(argument.getType()));
      words.push_back(function.getArgAttrDict(argument.getArgNumber()));
      continue;
    }
    Space from;
    from.size = tokenSize(function, argument.getArgNumber());
    bool pixels = isPixels(argument);
    if (!pixels)
      spaces[argument] = spaceOf(argument.getType(), from);
    inputs.push_back(flattened(argument.getType(), pixels));
    DictionaryAttr given = function.getArgAttrDict(argument.getArgNumber());
    words.push_back(
        transformer::gridOf(argument)
            ? Attribute(given)
            : withShape(given, shapeOf(argument.getType(), spaces[argument])));
  }
  for (Value returned : function.front().getTerminator()->getOperands())
    if (!similarityOf(returned))
      results.push_back(flattened(returned.getType()));
  head.setInsertionPoint(function);
  auto converted =
      func::FuncOp::create(head, function.getLoc(), function.getName(),
                           head.getFunctionType(inputs, results));
  converted->setDiscardableAttrs(function->getDiscardableAttrDictionary());
  converted.setArgAttrsAttr(head.getArrayAttr(words));
  Block *entry = converted.addEntryBlock();
  batch = entry->getArgument(0);
  for (auto [number, name] : llvm::enumerate(names))
    runSizes[name] = entry->getArgument(number);
  for (auto [from, to] :
       llvm::zip(function.getArguments(),
                 entry->getArguments().drop_front(names.size())))
    values[from] = to;
  return converted;
}

LogicalResult Converter::run() {
  func::FuncOp converted = makeFunction();
  Block &entry = converted.front();
  Location location = function.getLoc();
  body.setInsertionPointToEnd(&entry);
  Value allRows = arith::MulIOp::create(body, location, batch,
                                        runSizes.lookup(sizes::tokens));
  rowCounts[{sizes::tokens.str(), 0, 1}] = allRows;
  zero = arith::ConstantIndexOp::create(body, location, 0);
  // `head` stays before this op, which is erased at the end.
  auto border = arith::ConstantIndexOp::create(body, location, 0);
  head.setInsertionPoint(border);
  findPrologues();
  LogicalResult done = convertBlock(function.front());
  border.erase();
  for (Value size : {zero, allRows})
    if (size.use_empty())
      size.getDefiningOp()->erase();
  if (failed(done)) {
    converted.erase();
    return failure();
  }
  if (!bodies.empty())
    converted->setAttr("kernel.bodies", head.getArrayAttr(bodies));
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
  recordSpaces(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](EmbedOp op) { return convertEmbed(op); })
      .Case([&](LinearOp op) { return convertLinear(op); })
      .Case([&](LinearByHeadOp op) { return convertLinearByHead(op); })
      .Case([&](AttendOp op) { return convertAttend(op); })
      .Case([&](LinearAttendOp op) { return convertLinearAttend(op); })
      .Case([&](RotateOp op) { return convertRotate(op); })
      .Case<PositionBiasOp, DistanceBiasOp, PairBiasOp, ContentBiasOp,
            KeyHeadBiasOp>([&](auto op) { return convertBias(op); })
      .Case([&](PoolOp op) { return convertPool(op); })
      .Case([&](PatchesOp op) { return convertPatches(op); })
      .Case([&](PatchTableOp op) { return convertPatchTable(op); })
      .Case([&](PatchRotationOp op) { return convertPatchRotation(op); })
      .Case([&](MovePatchesOp op) { return convertMovePatches(op); })
      .Case([&](WindowSegmentsOp op) { return convertWindowSegments(op); })
      .Case([&](GatherTokensOp op) { return convertGatherTokens(op); })
      .Case([&](TokenNumbersOp op) { return convertTokenNumbers(op); })
      .Case([&](CountTokensOp op) { return convertCountTokens(op); })
      .Case([&](ConstantOp op) { return convertConstant(op); })
      .Case([&](SimilarityOp op) { return convertSimilarity(op); })
      .Case<RouteOp, DispatchOp, CombineOp, RouteGradientOp, SlotProductsOp,
            RouteSharesOp, SharesGradientOp, BalanceLossOp>(
          [&](auto op) { return convertExperts(op); })
      .Case([&](ResidualOp op) { return convertResidual(op); })
      .Case([&](LayersOp op) { return convertLayers(op); })
      .Case([&](NormOp op) {
        Value normed = norm(op.getLoc(), op.getNorm(), valueOf(op.getInput()),
                            rowsOf(op.getInput()));
        values[op.getResult()] = normed;
        return success(bool(normed));
      })
      .Case([&](ActivateOp op) {
        return convertElementwise(
            op, [&](OpBuilder &builder, Location location, ValueRange x) {
              return applyActivation(builder, location, op.getFunction(), x[0]);
            });
      })
      .Case([&](AddOp op) {
        return convertElementwise(
            op,
            [](OpBuilder &builder, Location location, ValueRange x) -> Value {
              return arith::AddFOp::create(builder, location, x[0], x[1]);
            });
      })
      .Case([&](GateOp op) { return convertGate(op); })
      .Case([&](SoftcapOp op) { return convertSoftcap(op); })
      .Case([&](AffineOp op) { return convertAffine(op); })
      .Case([&](ClampOp op) { return convertClamp(op); })
      .Case([&](KeepOp op) { return convertKeep(op); })
      .Case([&](RememberOp op) { return convertRemember(op); })
      .Case([&](RecallOp op) { return convertRecall(op); })
      .Case([&](PositionsOp op) { return convertPositions(op); })
      .Case([&](WeightGradientOp op) { return convertWeightGradient(op); })
      .Case([&](EmbedGradientOp op) { return convertEmbedGradient(op); })
      .Case([&](AttendGradientOp op) { return convertAttendGradient(op); })
      .Case([&](CrossEntropyOp op) { return convertCrossEntropy(op); })
      .Case<SquaredErrorOp, BinaryCrossEntropyOp>(
          [&](auto op) { return convertNumberLoss(op); })
      .Case([&](NormGradientOp op) { return convertNormGradient(op); })
      .Case([&](ActivateGradientOp op) { return convertActivateGradient(op); })
      .Case([&](ScaleGradientOp op) { return convertScaleGradient(op); })
      .Case([&](DropoutOp op) { return convertDropout(op); })
      .Case<CollectOp, CollectedOp>([&](auto op) { return convertCollect(op); })
      .Case<BiasGradientOp, KeyHeadGradientOp>(
          [&](auto op) { return convertBiasGradient(op); })
      .Case([&](ConstantGradientOp op) { return convertConstantGradient(op); })
      .Case([&](ReverseTokensOp op) { return convertReverseTokens(op); })
      .Case([&](PoolGradientOp op) { return convertPoolGradient(op); })
      .Case<SaveOp, SavedOp>([&](auto op) { return convertSave(op); })
      .Case([&](func::ReturnOp op) { return convertReturn(op); })
      .Case([&](YieldOp) { return success(); })
      .Default([](Operation *op) {
        return op->emitOpError("has no kernel that does it");
      });
}

LogicalResult Converter::convertReturn(func::ReturnOp op) {
  SmallVector<Value> results;
  SmallVector<Attribute> words;
  for (auto [i, returned] : llvm::enumerate(op.getOperands())) {
    DictionaryAttr given = function.getResultAttrDict(i);
    if (similarityOf(returned)) {
      auto name = given ? given.getAs<StringAttr>("transformer.name") : nullptr;
      if (failed(makeSimilarity(returned, name)))
        return failure();
      continue;
    }
    if (!valueOf(returned)) {
      auto error = op.emitOpError()
                   << "gives output " << i << " what no kernel writes";
      error.attachNote(returned.getLoc()) << "it comes from here";
      return error;
    }
    results.push_back(valueOf(returned));
    // One number per token is [batch, tokens], not [batch, tokens, 1].
    Attribute shape = given ? given.get("transformer.shape") : Attribute();
    words.push_back(withShape(
        given, shape ? shape : shapeOf(returned.getType(), spaceOf(returned))));
  }
  auto converted = cast<func::FuncOp>(body.getInsertionBlock()->getParentOp());
  converted.setResAttrsAttr(body.getArrayAttr(words));
  func::ReturnOp::create(body, op.getLoc(), results);
  return success();
}

// The streams of a loop: the layers' input, and sums that its layers add to,
// which have `names`.
SmallVector<Value>
Converter::streamsOf(transformer::LayersOp op,
                     llvm::SetVector<llvm::StringRef> &names) {
  SmallVector<Value> streams{valueOf(op.getInput())};
  op.walk([&](transformer::CollectOp collect) {
    if (!names.insert(collect.getName()))
      return;
    Value sum = collected.lookup(collect.getName()); // of loops before it
    streams.push_back(sum ? sum
                          : zeroRows(op.getLoc(), collect.getLike(),
                                     channelsOf(collect.getValue())));
  });
  return streams;
}

LogicalResult Converter::convertLayers(transformer::LayersOp op) {
  llvm::SetVector<StringRef> names;
  SmallVector<Value> streams = streamsOf(op, names);
  OperationState state(op.getLoc(), kernel::LayersOp::getOperationName());
  kernel::LayersOp::build(body, state, TypeRange(ValueRange(streams)), streams,
                          op.getSlots(), op.getBodiesAttr(), op.getTable(),
                          op.getReverseAttr(), op.getBodyRegions().size());
  auto layers = cast<kernel::LayersOp>(body.create(state));
  recordBodies(op);
  for (auto [number, from] : llvm::enumerate(op.getBodyRegions())) {
    OpBuilder::InsertionGuard guard(body);
    SmallVector<Location> locations(streams.size(), op.getLoc());
    Block *block = body.createBlock(&layers.getBodyRegions()[number], {},
                                    TypeRange(ValueRange(streams)), locations);
    values[from.getArgument(0)] = block->getArgument(0);
    spaces[from.getArgument(0)] = spaceOf(op.getInput());
    for (auto [name, argument] :
         llvm::zip_equal(names, block->getArguments().drop_front()))
      collected[name] = argument;
    columns.clear();
    layer = block;
    lastWeight = nullptr;
    ArrayAttr entries = op.entriesOf(op.layersOf(number).front());
    for (auto [name, entry] : llvm::zip(op.namesOf(number), entries))
      columns[cast<StringAttr>(name)] = entry;
    if (failed(convertBlock(from.front())))
      return failure();
    SmallVector<Value> results{
        valueOf(from.front().getTerminator()->getOperand(0))};
    for (StringRef name : names)
      results.push_back(collected[name]);
    kernel::YieldOp::create(body, op.getLoc(), results);
  }
  columns.clear();
  layer = nullptr;
  values[op.getResult()] = layers.getOutcomes().front();
  for (auto [name, sum] :
       llvm::zip_equal(names, layers.getOutcomes().drop_front()))
    collected[name] = sum;
  return success();
}

// Records which layers run which body of the stack, and how the bodies differ.
void Converter::recordBodies(transformer::LayersOp op) {
  auto differences = op->getAttrOfType<ArrayAttr>("differences");
  for (size_t number = 0; number < op.getBodyRegions().size(); ++number) {
    SmallVector<int64_t> layers;
    for (auto [layer, used] : llvm::enumerate(op.getBodies()))
      if (used == int64_t(number))
        layers.push_back(layer);
    Attribute difference = head.getStringAttr("");
    if (number && differences && number <= differences.size())
      difference = differences[number - 1];
    bodies.push_back(head.getDictionaryAttr(
        {head.getNamedAttr("stack", head.getI64IntegerAttr(stacks)),
         head.getNamedAttr("body", head.getI64IntegerAttr(number)),
         head.getNamedAttr("layers", head.getStringAttr(rangesOf(layers))),
         head.getNamedAttr("difference", difference)}));
  }
  ++stacks;
}

Value Converter::weight(Location location, Attribute value) {
  bool perLayer = false;
  transformer::forEachSymbol(value, [&](FlatSymbolRefAttr symbol) {
    perLayer |= columns.count(symbol.getAttr());
  });
  Value &known = weights[{value, perLayer ? layer : nullptr}];
  if (known)
    return known;
  auto type = typeOf(location, value);
  if (failed(type))
    return {};
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

FailureOr<RankedTensorType> Converter::typeOf(Location location,
                                              Attribute value) {
  auto resolve = [&](FlatSymbolRefAttr symbol) -> Attribute {
    if (Attribute entry = columns.lookup(symbol.getAttr())) {
      auto named = dyn_cast<FlatSymbolRefAttr>(entry);
      if (!named)
        return entry;
      symbol = named;
    }
    auto parameter = symbols.lookup<transformer::ParameterOp>(symbol.getAttr());
    return parameter ? parameter.getTypeAttr() : Attribute();
  };
  std::string why;
  auto type = transformer::valueType(value, resolve, why);
  if (failed(type))
    emitError(location) << "a parameter's value " << value << " " << why;
  return type;
}

Value Converter::makeIndices(OpBuilder &builder, Location location,
                             Value rows) {
  auto type =
      RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
  return tensor::EmptyOp::create(builder, location, type, rows);
}

Value Converter::once(ArrayRef<const void *> key,
                      llvm::function_ref<Value()> make) {
  for (auto &[known, value] : made)
    if (ArrayRef(known) == key)
      return value;
  Value value = make();
  // Not to_vector: of pointers it would make a list of its two ends.
  made.emplace_back(SmallVector<const void *>(key), value);
  return value;
}

namespace {

struct ConvertToKernel : mille::impl::ConvertToKernelBase<ConvertToKernel> {
  void runOnOperation() override {
    auto functions =
        llvm::to_vector(getOperation().getBody().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      // Done already: kernel functions begin with the run's sizes.
      if (kernel::sizeArguments(function))
        continue;
      if (failed(Converter(getOperation(), function).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
