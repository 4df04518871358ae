// Walks a ModelSpec and writes the ops of `forward`: stack by stack, layer by
// layer. One walk for every placement.
#include "compiler/import/model/Build.h"
#include "compiler/import/model/ModelBuilder.h"
#include "dialects/transformer/Grid.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

ModelBuilder::ModelBuilder(const ModelSpec &spec, WeightSource &weights,
                           const BuildOptions &options, MLIRContext &context)
    : spec(spec), weights(weights), options(options), context(context),
      op(&context), f32(op.getF32Type()) {}

Location ModelBuilder::where(LocationAttr at) {
  return at ? Location(at) : Location(spec.at);
}

RankedTensorType ModelBuilder::stream(int64_t channels) {
  return RankedTensorType::get({ShapedType::kDynamic, tokens, channels}, f32);
}

Dimension ModelBuilder::dim(const Extent &a) { return {a.value, {&a}}; }

Dimension ModelBuilder::dim(const Extent &a, const Extent &b) {
  return {a.value * b.value, {&a, &b}}; // both at most 2^31
}

FlatSymbolRefAttr ModelBuilder::parameter(StringRef name, Role role,
                                          llvm::SmallVector<Dimension, 2> shape,
                                          LocationAttr at, double init) {
  auto symbol = FlatSymbolRefAttr::get(&context, name);
  if (!made.insert(name).second)
    return symbol;
  Wanted wanted{name.str(), std::move(shape), role, init};
  if (Attribute value = valueOf(wanted))
    declare(name, wanted.shape, value, at);
  return symbol;
}

Attribute ModelBuilder::valueOf(Wanted wanted) {
  wanted.stack = stack;
  wanted.attention = attention;
  return weights.value(wanted);
}

FlatSymbolRefAttr ModelBuilder::bias(StringRef linear, Role of, Dimension in,
                                     llvm::SmallVector<Dimension, 2> shape,
                                     LocationAttr at) {
  std::string name = (linear + ".bias").str();
  auto symbol = FlatSymbolRefAttr::get(&context, name);
  if (!made.insert(name).second)
    return symbol;
  Wanted wanted{name, std::move(shape), Role::bias};
  wanted.biasOf = of;
  wanted.fanIn = in.size;
  if (Attribute value = valueOf(wanted))
    declare(name, wanted.shape, value, at);
  return symbol;
}

// Whether a value has numbers of a file, of a recipe, or of a parameter.
static bool isOfFiles(Attribute value) {
  bool found = false;
  value.walk([&](Attribute part) {
    found |= llvm::isa<StoredAttr, DrawnAttr, FlatSymbolRefAttr>(part);
  });
  return found;
}

void ModelBuilder::declare(StringRef name, ArrayRef<Dimension> shape,
                           Attribute value, LocationAttr at,
                           ArrayRef<int64_t> fixedRows) {
  llvm::SmallVector<int64_t> extents;
  for (const Dimension &dimension : shape)
    extents.push_back(dimension.size);
  // What follows from the description alone stays as it is in a training.
  static constexpr int64_t all[] = {1, 0, 1};
  if (fixedRows.empty() && !isOfFiles(value))
    fixedRows = all;
  auto fixed = fixedRows.empty() ? DenseI64ArrayAttr()
                                 : op.getDenseI64ArrayAttr(fixedRows);
  OpBuilder::InsertionGuard guard(op);
  op.setInsertionPoint(forward);
  ParameterOp::create(op, where(at), name, RankedTensorType::get(extents, f32),
                      value, /*dtype=*/StringAttr(), fixed);
}

Value ModelBuilder::linear(Value input, StringRef name, Role role,
                           Dimension out, Dimension in, bool bias,
                           LocationAttr at, double scale) {
  auto weight = parameter((name + ".weight").str(), role, {out, in}, at);
  FlatSymbolRefAttr offset;
  if (bias)
    offset = this->bias(name, role, in, {out}, at);
  if (spec.ntk)
    scale /= std::sqrt(double(in.size));
  return apply(input, weight, offset, out.size, at, scale);
}

Value ModelBuilder::apply(Value input, FlatSymbolRefAttr weight,
                          FlatSymbolRefAttr bias, int64_t out, LocationAttr at,
                          double scale) {
  auto shape =
      llvm::to_vector(llvm::cast<RankedTensorType>(input.getType()).getShape());
  shape.back() = out;
  return LinearOp::create(op, where(at), RankedTensorType::get(shape, f32),
                          input, Value(), weight, bias,
                          op.getF64FloatAttr(scale));
}

std::string ModelBuilder::named(StringRef name) {
  return stack->prefix + name.str();
}

std::string ModelBuilder::layerPrefix(int64_t layer) {
  if (!stack->layerNames.empty())
    return named(stack->layerNames[layer]);
  return named(("layers." + Twine(layer) + ".").str());
}

//===-- Inputs ------------------------------------------------------------===//

static bool isScheduled(const Stack &stack) {
  for (int64_t layer = 0; layer < stack.layers.value; ++layer)
    for (const Unit &unit : stack.unitsOf(layer))
      for (auto *slot : {&unit.skipScale, &unit.branchScale, &unit.streamScale})
        for (const Scale &scale : slot->all)
          if (scale.kind == ScaleKind::scheduled)
            return true;
  return false;
}

void ModelBuilder::declareInput(StringRef name, Type type, StringRef absent,
                                int64_t below, bool decoder) {
  llvm::SmallVector<NamedAttribute> attributes{
      op.getNamedAttr("transformer.name", op.getStringAttr(name))};
  if (!absent.empty())
    attributes.push_back(
        op.getNamedAttr("transformer.default", op.getStringAttr(absent)));
  if (below > 0)
    attributes.push_back(
        op.getNamedAttr("transformer.below", op.getI64IntegerAttr(below)));
  if (decoder)
    attributes.push_back(op.getNamedAttr(
        "transformer.shape",
        ShapeAttr::get(op.getContext(),
                       Shape{sizes::batch, sizes::decoderTokens})));
  inputs.push_back({name.str(), llvm::cast<RankedTensorType>(type),
                    op.getDictionaryAttr(attributes)});
}

void ModelBuilder::declareIds(const Stack &stack) {
  constexpr int64_t any = ShapedType::kDynamic;
  Type ids = RankedTensorType::get({any, any}, op.getI32Type());
  auto add = [&](StringRef name, StringRef absent, int64_t below) {
    declareInput(stack.decoder ? ("decoder_" + name).str() : name.str(), ids,
                 absent, below, stack.decoder);
  };
  add("input_ids", "", stack.vocab.value);
  add("attention_mask", "ones", 0);
  add("token_type_ids", "zeros", stack.tokenTypes.value);
  bool fromInput = stack.positionRule.from == PositionsFrom::input;
  add("position_ids", "positions",
      stack.positions && fromInput
          ? stack.positions.value - stack.positionRule.offset
          : 0);
}

// The tokens of later stages and of windows, and the smallest image: one with a
// window in each stage.
void ModelBuilder::findParts(const Image &image, std::vector<PartAttr> &parts,
                             std::vector<int64_t> &least) {
  const int64_t patch[] = {image.patchHeight.value, image.patchWidth.value};
  auto add = [&](StringRef name, const int64_t *side, int64_t scale,
                 int64_t each) {
    const int64_t pixels[] = {side[0] * scale, side[1] * scale};
    std::string own = (name + imageTokens).str();
    if (int64_t stage = llvm::Log2_64(side[0] / patch[0]) + (each == 1))
      own += "_" + std::to_string(stage);
    auto part = PartAttr::get(&context, own, pixels, each);
    if (!llvm::is_contained(parts, part))
      parts.push_back(part);
  };
  auto addStack = [&](const Stack &stack) {
    if (stack.merging)
      add("", stack.merging->side, 2, 1);
    for (const std::vector<Unit> &units : stack.layerUnits)
      for (const Unit &unit : units)
        for (const Branch &branch : unit.branches)
          for (const Attention &a : branch.attention.all) {
            if (!a.windows)
              continue;
            const WindowPlan &plan = *a.windows;
            add("windowed_", plan.side, plan.size, plan.size * plan.size);
            least.resize(2);
            for (unsigned axis : {0, 1})
              least[axis] = std::max(
                  least[axis], plan.side[axis] * (plan.size - 1) + patch[axis]);
          }
  };
  llvm::for_each(spec.before, addStack);
  addStack(spec);
}

// Pixels [batch, channels, height, width].
void ModelBuilder::declareImage(const Image &image) {
  constexpr int64_t any = ShapedType::kDynamic;
  const bool fixed = !image.ofRuns;
  declareInput("pixel_values",
               RankedTensorType::get({any, image.channels.value,
                                      fixed ? image.height.value : any,
                                      fixed ? image.width.value : any},
                                     f32),
               "", 0, false);
  if (fixed)
    return;
  std::vector<PartAttr> parts;
  std::vector<int64_t> least;
  findParts(image, parts, least);
  NamedAttrList attributes(inputs.back().attributes);
  attributes.set(
      "transformer.shape",
      ShapeAttr::get(&context, Shape{sizes::batch, image.channels.value,
                                     sizes::height, sizes::width}));
  attributes.set(
      "transformer.grid",
      GridAttr::get(&context, imageTokens,
                    {image.patchHeight.value, image.patchWidth.value},
                    {image.ownHeight.value, image.ownWidth.value},
                    image.leadingTokens(), parts, least));
  inputs.back().attributes = attributes.getDictionary(&context);
}

void ModelBuilder::declareInputsOf(const Stack &stack) {
  constexpr int64_t any = ShapedType::kDynamic;
  if (stack.vocab)
    declareIds(stack);
  if (const auto &image = stack.image)
    declareImage(*image);
  if (const auto &sound = stack.sound)
    declareInput("input_features",
                 RankedTensorType::get(
                     {any, sound->bands.value, 2 * sound->frames.value}, f32),
                 "", 0, false);
}

// Declares every input that the stacks may read, in a fixed order. Inputs that
// nothing reads are dropped at the end.
void ModelBuilder::declareInputs() {
  llvm::SmallVector<const Stack *> stacks;
  for (const Stack &stack : spec.before)
    stacks.push_back(&stack);
  stacks.push_back(&spec);
  for (bool decoder : {false, true})
    for (const Stack *stack : stacks)
      if (stack->decoder == decoder)
        declareInputsOf(*stack);
  declareInput("prefix_tokens",
               RankedTensorType::get({ShapedType::kDynamic}, op.getI32Type()),
               "zeros", 0, false);
  if (llvm::any_of(stacks, [](const Stack *s) { return isScheduled(*s); }))
    declareInput("step", RankedTensorType::get({1}, op.getI32Type()), "none", 0,
                 false);
}

Value ModelBuilder::inputNamed(StringRef name) {
  for (auto [i, input] : llvm::enumerate(inputs))
    if (input.name == name)
      return forward.getArgument(i);
  return {};
}

Value ModelBuilder::input(StringRef name) {
  if (!stack->vocab) // its tokens are not ids
    return {};
  return inputNamed(stack->decoder ? ("decoder_" + name).str() : name.str());
}

void ModelBuilder::dropUnusedInputs() {
  llvm::BitVector unused(forward.getNumArguments());
  for (BlockArgument argument : forward.getArguments())
    if (argument.use_empty() &&
        inputs[argument.getArgNumber()].name != "step") // scales read it
      unused.set(argument.getArgNumber());
  (void)forward.eraseArguments(unused);
}

//===-- The walk ----------------------------------------------------------===//

void ModelBuilder::keep(Value x, int64_t index, LocationAttr at) {
  if (options.hiddenStates && !stack->states.empty())
    KeepOp::create(op, where(at), x, stack->states, index);
}

// The size of the tokens of a stack whose image's size runs choose.
std::string ModelBuilder::imageTokensOf(const Stack &current) {
  GridAttr grid = gridOf(inputNamed("pixel_values"));
  if (!current.merging)
    return grid.getTokens().str();
  const int64_t *side = current.merging->side;
  return grid.getTokensOf({2 * side[0], 2 * side[1]}, 1).str();
}

// Builds a stack from its embedding to its final norm.
Value ModelBuilder::run(const Stack &current) {
  stack = &current;
  const size_t first = outputs.size();
  tokens = ShapedType::kDynamic;
  sharedBias = sharedPairBias = pooled = {};
  Value x = stack->image     ? embedImage()
            : stack->merging ? embedMerged()
            : stack->sound   ? embedSound()
                             : embed();
  auto stateOutput = [&](const std::string &name) {
    if (options.hiddenStates && !name.empty())
      outputs.push_back({name, x});
  };
  stateOutput(stack->embeddedState);
  keep(x, 0, stack->vocab.at);
  for (int64_t layer = 0; layer < stack->layers.value; ++layer) {
    layerInput = x;
    for (const Unit &unit : stack->unitsOf(layer))
      x = residual(x, unit, layer);
    // The last entry usually includes the final norm, which is added below.
    if (layer + 1 < stack->layers.value || !stack->lastStateNormed)
      keep(x, layer + 1, stack->layers.at);
  }
  stateOutput(stack->lastState);
  x = normed(x, stack->finalNorm, named("final_norm"));
  if (stack->last)
    x = linear(x, named("project_last"), Role::dense, dim(stack->last.width),
               dim(stack->hidden), stack->last.bias, stack->last.width.at);
  const bool otherWidth =
      stack->last && stack->last.width.value != stack->hidden.value;
  if (stack->lastStateNormed && otherWidth && !stack->states.empty())
    stateOutput(stack->states + "." + std::to_string(stack->layers.value));
  else if (stack->lastStateNormed)
    keep(x, stack->layers.value, stack->layers.at);
  if (!stack->output.empty())
    outputs.push_back({stack->output, x});
  if (stack->pooling)
    pool(x);
  const bool ofImage =
      tokens == ShapedType::kDynamic && (stack->image || stack->merging);
  for (Output &output : llvm::drop_begin(outputs, first))
    if (ofImage)
      output.tokens = imageTokensOf(*stack);
  return x;
}

OwningOpRef<ModuleOp> ModelBuilder::run() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(where(spec.at));
  op.setInsertionPointToStart(module->getBody());
  auto model = ModelOp::create(op, where(spec.at), spec.name);
  describe(model);
  declareInputs();
  op.setInsertionPointToStart(&model.getBody().emplaceBlock());
  llvm::SmallVector<Type> types;
  for (const Input &input : inputs)
    types.push_back(input.type);
  forward = func::FuncOp::create(op, where(spec.at), "forward",
                                 op.getFunctionType(types, {}));
  for (auto [i, input] : llvm::enumerate(inputs))
    forward.setArgAttrs(i, input.attributes);
  op.setInsertionPointToStart(forward.addEntryBlock());

  for (const Stack &before : spec.before) {
    memory = run(before);
    memoryMask = input("attention_mask");
    memoryWidth = before.last ? &before.last.width : &before.hidden;
  }
  outputsBefore = outputs.size();
  Value x = run(spec);
  if (spec.head)
    head(x);
  if (spec.classifier)
    outputs.push_back({spec.classifier->output, classify(x, *spec.classifier)});
  if (spec.contrast)
    compare(*spec.contrast);
  finish();
  return module;
}

// Makes the return op and sets the signature accordingly.
void ModelBuilder::finish() {
  llvm::SmallVector<Value> results;
  llvm::SmallVector<Type> types;
  // The head's stack gives the first outputs.
  std::rotate(outputs.begin(), outputs.begin() + outputsBefore, outputs.end());
  for (const Output &output : outputs) {
    results.push_back(output.value);
    types.push_back(output.value.getType());
  }
  func::ReturnOp::create(op, where(spec.at), results);
  dropUnusedInputs();
  forward.setFunctionType(
      op.getFunctionType(forward.getBody().front().getArgumentTypes(), types));
  for (auto [i, output] : llvm::enumerate(outputs)) {
    forward.setResultAttr(i, "transformer.name", op.getStringAttr(output.name));
    auto type = llvm::cast<RankedTensorType>(output.value.getType());
    if (!output.tokens.empty() && type.getRank() == 3)
      forward.setResultAttr(
          i, "transformer.shape",
          ShapeAttr::get(op.getContext(),
                         Shape{sizes::batch, StringRef(output.tokens),
                               type.getDimSize(2)}));
    if (output.oneNumber)
      forward.setResultAttr(
          i, "transformer.shape",
          ShapeAttr::get(op.getContext(),
                         Shape{sizes::batch, stack->decoder
                                                 ? sizes::decoderTokens
                                                 : sizes::tokens}));
  }
}

// The most tokens: the rows of the shortest position table among stacks that
// take words.
static std::optional<int64_t> mostTokens(const ModelSpec &spec, bool decoder) {
  std::optional<int64_t> most;
  auto take = [&](const Stack &stack) {
    if (stack.decoder == decoder && stack.mostTokens)
      most = std::min(most.value_or(stack.mostTokens.value),
                      stack.mostTokens.value);
    if (!stack.vocab || !stack.positions || stack.decoder != decoder)
      return;
    const PositionRule &rule = stack.positionRule;
    // Positions that are counted begin at 1, so the table loses a row.
    bool counted = rule.from != PositionsFrom::input;
    int64_t rows = stack.positions.value - rule.offset - counted;
    most = std::min(most.value_or(rows), rows);
  };
  llvm::for_each(spec.before, take);
  take(spec);
  return most;
}

void ModelBuilder::describe(ModelOp model) {
  auto number = [&](StringRef name, int64_t value) {
    model->setAttr(name, op.getI64IntegerAttr(value));
  };
  model->setAttr("family", op.getStringAttr(spec.family));
  if (spec.training)
    setTraining(model, *spec.training);
  number("layers", spec.layers.value);
  number("hidden_size", spec.hidden.value);
  if (spec.vocab)
    number("vocab_size", spec.vocab.value);
  for (bool decoder : {false, true})
    if (auto most = mostTokens(spec, decoder))
      number(decoder ? "max_decoder_tokens" : "max_tokens", *most);
  auto mostOf = [&](const Stack &stack) {
    if (stack.image && stack.image->ofRuns && stack.image->mostHeight) {
      number("max_height", stack.image->mostHeight);
      number("max_width", stack.image->mostWidth);
    }
  };
  llvm::for_each(spec.before, mostOf);
  mostOf(spec);
  if (options.withoutWeights)
    model->setAttr("weights", op.getStringAttr("none"));
}

OwningOpRef<ModuleOp> mille::import::build(const ModelSpec &spec,
                                           WeightSource &weights,
                                           const BuildOptions &options,
                                           MLIRContext &context) {
  return ModelBuilder(spec, weights, options, context).run();
}
