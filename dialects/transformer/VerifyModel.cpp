// Verifiers of models, parameters and layer stacks, one `// Cn` per labelled
// constraint. Every walk is linear: a thousand unrolled layers are usual.
#include "dialects/transformer/Dtype.h"
#include "dialects/transformer/Slots.h"
#include "dialects/transformer/Symbols.h"
#include "dialects/transformer/Training.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mille::transformer;
using mille::dtypeNamed;
using mille::dtypeNames;
using mille::shapeText;

//===-- parameter ---------------------------------------------------------===//

LogicalResult ParameterOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  for (int64_t extent : type.getShape())
    if (ShapedType::isDynamic(extent) || extent <= 0) // C2
      return emitOpError() << "type is " << type
                           << " but every extent must be static and > 0";
  if (getDtype() && !dtypeNamed(*getDtype())) // C3
    return emitOpError() << "dtype is '" << *getDtype()
                         << "' but must be one of "
                         << llvm::join(dtypeNames(), ", ");
  return verifyFixedRows(*this, getFixedRowsAttr(), // C4
                         type.getRank() ? type.getDimSize(0) : 1);
}

LogicalResult ParameterOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto type = typeOfValue(*this, getValue(), tables); // C1
  if (failed(type))
    return failure();
  if (!*type)
    return success();
  auto declared = cast<RankedTensorType>(getType());
  if ((*type).getShape() != declared.getShape()) // C1
    return emitOpError() << "value is " << shapeText((*type).getShape())
                         << " but the type is "
                         << shapeText(declared.getShape());
  return success();
}

//===-- layers ------------------------------------------------------------===//

LogicalResult LayersOp::verify() {
  Type stream = getInput().getType();
  for (auto [index, body] : llvm::enumerate(getBodyRegions())) {
    Block &block = body.front();
    if (block.getNumArguments() != 1 ||
        block.getArgument(0).getType() != stream) // C4
      return emitOpError() << "body " << index << " takes "
                           << block.getArgumentTypes() << " but the stream is "
                           << stream;
    auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
    if (!yield || yield.getValues().getTypes() != TypeRange(stream)) // C4
      return emitOpError() << "body " << index
                           << " must yield one value of the stream's type, "
                           << stream;
  }
  llvm::StringSet<> seen;
  ArrayRef<Attribute> saves;
  if (getSavesAttr())
    saves = getSavesAttr().getValue();
  for (Attribute name : saves)
    if (!seen.insert(cast<StringAttr>(name).getValue()).second) // C6
      return emitOpError() << "saves " << name << " twice";
  if (getReverse() && !saves.empty()) // C6
    return emitOpError() << "runs in reverse but saves " << saves[0];
  return success();
}

LogicalResult LayersOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyColumns(cast<LayerStack>(getOperation()), tables); // C5
}

//===-- model -------------------------------------------------------------===//

namespace {

// Inputs and outputs must have names, each used once.
LogicalResult verifyNames(func::FuncOp entry) {
  llvm::StringSet<> inputs, outputs;
  if (!entry.getBody().hasOneBlock()) // C1
    return entry.emitOpError() << "has " << entry.getBody().getBlocks().size()
                               << " blocks but an entry has one";
  auto check = [&](StringRef kind, unsigned index, Attribute name,
                   llvm::StringSet<> &seen) -> LogicalResult {
    auto text = dyn_cast_or_null<StringAttr>(name);
    if (!text || text.empty()) // C2
      return entry.emitOpError()
             << kind << ' ' << index << " has no transformer.name";
    if (!seen.insert(text.getValue()).second) // C2
      return entry.emitOpError() << "two " << kind << "s are named " << text;
    return success();
  };
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    if (isa<IndexType>(entry.getArgument(i).getType())) {
      if (!entry.getArgAttr(i, "kernel.size")) // C2
        return entry.emitOpError()
               << "argument " << i << " is 'index' but no kernel.size";
      continue; // batch and tokens of a kernel program
    }
    bool output = !!entry.getArgAttr(i, "kernel.output");
    if (failed(check(output ? "output" : "input", i,
                     entry.getArgAttr(i, "transformer.name"),
                     output ? outputs : inputs)))
      return failure();
  }
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    if (failed(check("output", i, entry.getResultAttr(i, "transformer.name"),
                     outputs)))
      return failure();
  return success();
}

// A parameter's value must not depend on the parameter itself.
class Cycles {
public:
  explicit Cycles(ModelOp model) : model(model) {}

  LogicalResult verify() {
    for (auto parameter : model.getOps<ParameterOp>())
      if (mentionsSymbols(parameter) && failed(visit(parameter)))
        return failure();
    return success();
  }

private:
  static bool mentionsSymbols(ParameterOp parameter) {
    bool any = false;
    forEachSymbol(parameter.getValue(), [&](FlatSymbolRefAttr) { any = true; });
    return any;
  }

  // Depth first, with the open parameters on `path` instead of the stack.
  LogicalResult visit(ParameterOp start) {
    if (!table)
      table.emplace(model);
    SmallVector<std::pair<ParameterOp, SmallVector<ParameterOp>>> path;
    auto open = [&](ParameterOp parameter) {
      state[parameter] = State::open;
      SmallVector<ParameterOp> sources;
      forEachSymbol(parameter.getValue(), [&](FlatSymbolRefAttr name) {
        if (auto source = table->lookup<ParameterOp>(name.getValue()))
          sources.push_back(source);
      });
      path.emplace_back(parameter, std::move(sources));
    };
    if (state.lookup(start) == State::unseen)
      open(start);
    while (!path.empty()) {
      auto &[parameter, sources] = path.back();
      if (sources.empty()) {
        state[parameter] = State::done;
        path.pop_back();
        continue;
      }
      ParameterOp source = sources.pop_back_val();
      if (state.lookup(source) == State::open) { // C5
        auto error =
            source.emitOpError("value leads back to the parameter itself");
        error.attachNote(parameter.getLoc()) << "through this parameter";
        return error;
      }
      if (state.lookup(source) == State::unseen)
        open(source);
    }
    return success();
  }

  enum class State { unseen, open, done };
  ModelOp model;
  std::optional<SymbolTable> table;
  DenseMap<Operation *, State> state;
};

// The reader of a learned scale: a unit, as part of a layer.
struct Reader {
  Operation *unit;
  // The stack or function, and the layer's number in it; a unit without number
  // is a layer of its own.
  std::pair<Operation *, int64_t> layer;
};

// Checks one entry at a time: entries are different runs of the same units.
class SharedScales {
public:
  LogicalResult verify(func::FuncOp entry) {
    auto walked = entry.walk([&](ResidualOp unit) {
      return failed(read(unit)) ? WalkResult::interrupt()
                                : WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

private:
  LogicalResult read(ResidualOp unit) {
    SmallVector<ScaleAttr> scales{unit.getSkipScaleAttr(),
                                  unit.getStreamScaleAttr()};
    if (auto branch = unit.getBranchScaleAttr())
      llvm::append_range(scales, branch.getAsRange<ScaleAttr>());
    for (ScaleAttr scale : scales)
      if (scale && scale.getKind() != ScaleKind::constant &&
          scale.getSymbol() && scale.getShare() != Share::model &&
          failed(read(unit, scale)))
        return failure();
    return success();
  }

  // Once per layer that runs the unit's body, with that layer's parameter.
  LogicalResult read(ResidualOp unit, ScaleAttr scale) {
    FlatSymbolRefAttr name = scale.getSymbol();
    auto stack = unit->getParentOfType<LayersOp>();
    if (!stack) {
      auto number = unit.getLayer();
      return read(name, scale.getShare(),
                  {unit, number
                             ? std::pair(unit->getParentOp(), int64_t(*number))
                             : std::pair(unit.getOperation(), int64_t(0))});
    }
    // A loop whose result nothing reads computes another's layers again, for
    // what it saves.
    if (stack.getResult().use_empty())
      return success();
    const int64_t body = unit->getParentRegion()->getRegionNumber();
    for (size_t layer : stack.layersOf(body)) {
      auto symbol = dyn_cast<FlatSymbolRefAttr>(stack.entryOf(layer, name));
      if (symbol && failed(read(symbol, scale.getShare(),
                                {unit, {stack, int64_t(layer)}})))
        return failure();
    }
    return success();
  }

  LogicalResult read(FlatSymbolRefAttr name, Share share, Reader reader) {
    auto [found, isFirst] = readers.try_emplace(name, reader);
    const Reader &first = found->second;
    bool sameUnit = first.unit == reader.unit && first.layer == reader.layer;
    if (isFirst || sameUnit ||
        (share == Share::layer && first.layer == reader.layer))
      return success();
    auto error = reader.unit->emitOpError() // C3
                 << "scale " << name << " is shared by one "
                 << stringifyShare(share) << " but read by another "
                 << stringifyShare(share) << " too";
    error.attachNote(first.unit->getLoc()) << name << " is read here first";
    return error;
  }

  DenseMap<Attribute, Reader> readers;
};

// Whether a norm reads the sum, or the vector pooled from it (CLIP's image
// tower, Swin's stages). The sum itself may then be one of several outputs.
bool isNormedToo(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<NormOp>(user) ||
           (isa<PoolOp>(user) && isNormedToo(user->getResult(0)));
  });
}

// The unit that computes `value` as its unnormed sum, if its stack is pre-norm.
ResidualOp unnormedEnd(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<LinearOp, SoftcapOp, PoolOp>(op))
      break;
    value = op->getOperand(0);
  }
  auto last = value.getDefiningOp<ResidualOp>();
  if (!last || isNorm(last.getOutNormAttr()) || last.getTap() == Tap::normed ||
      isNormedToo(last.getResult()))
    return {};
  for (auto unit = last; unit;
       unit = unit.getInput().getDefiningOp<ResidualOp>())
    if (holdsNorm(unit.getInNormAttr()))
      return last;
  return {};
}

void warnOfUnnormedEnd(ModelOp model, func::FuncOp entry) {
  if (entry.empty() || entry.back().empty())
    return;
  for (Value output : entry.back().back().getOperands()) {
    ResidualOp last = unnormedEnd(output);
    auto *dialect = model->getContext()->getLoadedDialect<TransformerDialect>();
    if (!last || !dialect->isFirstWarning(model.getSymName()))
      continue;
    last.emitWarning("a pre-norm stack ends here without a norm"); // C4
    return;
  }
}

} // namespace

LogicalResult ModelOp::verifyRegions() {
  func::FuncOp first;
  for (auto entry : getOps<func::FuncOp>()) {
    if (failed(verifyNames(entry)) || failed(SharedScales().verify(entry)) ||
        failed(verifySaved(entry)))
      return failure();
    if (!first)
      first = entry;
  }
  if (!first) // C1
    return emitOpError("has no func.func");
  if (failed(Cycles(*this).verify()) ||
      failed(mille::trainingOf(getOperation())))
    return failure();
  warnOfUnnormedEnd(*this, first);
  return success();
}
