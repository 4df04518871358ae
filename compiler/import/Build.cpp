// Walks a ModelSpec and writes the ops of `forward`. One walk for every
// placement; branches are in BuildBranch.cpp.
#include "compiler/import/Build.h"
#include "compiler/import/ModelBuilder.h"

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
  constexpr int64_t any = ShapedType::kDynamic;
  return RankedTensorType::get({any, any, channels}, f32);
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
  if (Attribute value = weights.value(wanted))
    declare(name, wanted.shape, value, at);
  return symbol;
}

void ModelBuilder::declare(StringRef name, ArrayRef<Dimension> shape,
                      Attribute value, LocationAttr at) {
  llvm::SmallVector<int64_t> extents;
  for (const Dimension &dimension : shape)
    extents.push_back(dimension.size);
  OpBuilder::InsertionGuard guard(op);
  op.setInsertionPoint(forward);
  ParameterOp::create(op, where(at), name, RankedTensorType::get(extents, f32),
                      value);
}

Value ModelBuilder::linear(Value input, StringRef name, Role role, Dimension out,
                      Dimension in, bool bias, LocationAttr at, double scale) {
  auto weight = parameter((name + ".weight").str(), role, {out, in}, at);
  FlatSymbolRefAttr offset;
  if (bias)
    offset = parameter((name + ".bias").str(), Role::bias, {out}, at);
  return apply(input, weight, offset, out.size, at, scale);
}

Value ModelBuilder::apply(Value input, FlatSymbolRefAttr weight,
                     FlatSymbolRefAttr bias, int64_t out, LocationAttr at,
                     double scale) {
  auto shape = llvm::to_vector(
      llvm::cast<RankedTensorType>(input.getType()).getShape());
  shape.back() = out;
  return LinearOp::create(op, where(at), RankedTensorType::get(shape, f32),
                          input, Value(), weight, bias,
                          op.getF64FloatAttr(scale));
}

NormAttr ModelBuilder::norm(const Norm &norm, StringRef name) {
  FlatSymbolRefAttr weight, bias;
  if (norm.affine != Affine::none)
    weight = parameter((name + ".weight").str(),
                       norm.affine == Affine::weight ? Role::normWeight
                                                     : Role::normOffsetWeight,
                       {dim(spec.hidden)}, norm.at);
  if (norm.bias)
    bias = parameter((name + ".bias").str(), Role::bias, {dim(spec.hidden)},
                     norm.at);
  return NormAttr::get(&context, norm.kind, norm.eps, norm.affine, weight, bias);
}

ScaleAttr ModelBuilder::scale(const Scale &scale, const Unit &unit, StringRef slot,
                         int64_t layer) {
  std::string prefix = ("layers." + Twine(layer) + ".").str();
  std::string name = scale.share == Share::unit    ? prefix + unit.name + "."
                     : scale.share == Share::layer ? prefix
                                                   : std::string();
  FlatSymbolRefAttr symbol;
  if (scale.kind == ScaleKind::learned_scalar)
    symbol = parameter(name + slot.str(), Role::scale, {Dimension{1, {}}},
                       scale.at, scale.init);
  else if (scale.kind == ScaleKind::learned_channel)
    symbol = parameter(name + slot.str(), Role::scale, {dim(spec.hidden)},
                       scale.at, scale.init);
  StringAttr formula;
  if (!scale.formula.empty())
    formula = op.getStringAttr(scale.formula);
  return ScaleAttr::get(&context, scale.kind, scale.value, formula, symbol,
                        scale.share, scale.from, scale.to, scale.steps);
}

// One list entry per branch, or for a shared input norm one in all.
ArrayAttr ModelBuilder::norms(const PerLayer<Norm> &slot, const Unit &unit,
                         StringRef name, int64_t layer, bool shared) {
  const Norm *norm = slot.at(layer);
  if (!norm || !norm->present())
    return {};
  std::string prefix = ("layers." + Twine(layer) + ".").str();
  if (shared)
    return op.getArrayAttr(
        this->norm(*norm, prefix + unit.name + "." + name.str()));
  llvm::SmallVector<Attribute> all;
  for (const Branch &branch : unit.branches)
    all.push_back(this->norm(*norm, prefix + branch.name + "." + name.str()));
  return op.getArrayAttr(all);
}

Value ModelBuilder::residual(Value x, const Unit &unit, int64_t layer) {
  Location at = where(unit.at);
  bool shared = unit.sharedInNorm || unit.branches.size() == 1;
  ArrayAttr inNorm = norms(unit.inNorm, unit, "in_norm", layer, shared);
  ArrayAttr branchNorm = norms(unit.branchNorm, unit, "branch_norm", layer,
                               unit.branches.size() == 1);
  NormAttr outNorm;
  std::string prefix = ("layers." + Twine(layer) + "." + unit.name + ".").str();
  if (const Norm *norm = unit.outNorm.at(layer); norm && norm->present())
    outNorm = this->norm(*norm, prefix + "out_norm");
  ScaleAttr skip, stream;
  if (const Scale *scale = unit.skipScale.at(layer))
    skip = this->scale(*scale, unit, "skip_scale", layer);
  if (const Scale *scale = unit.streamScale.at(layer))
    stream = this->scale(*scale, unit, "stream_scale", layer);
  ArrayAttr branchScale;
  if (const Scale *scale = unit.branchScale.at(layer)) {
    llvm::SmallVector<Attribute> all(
        unit.branches.size(),
        this->scale(*scale, unit, "branch_scale", layer));
    branchScale = op.getArrayAttr(all);
  }
  // Tap `normed` without a norm is tap `input`.
  Tap tap = inNorm ? unit.tap : Tap::input;
  auto unitOp = ResidualOp::create(
      op, at, x.getType(), x, inNorm, branchNorm, outNorm,
      TapAttr::get(&context, tap), skip, branchScale, stream,
      op.getI64IntegerAttr(layer), unit.branches.size());
  OpBuilder::InsertionGuard guard(op);
  for (auto [branch, region] : llvm::zip(unit.branches, unitOp.getBranches())) {
    Block *block = op.createBlock(&region, {}, {x.getType()}, {at});
    Value y = branch.attention
                  ? attend(block->getArgument(0), branch, layer)
                  : feedForward(block->getArgument(0), branch, layer);
    YieldOp::create(op, where(branch.at), y);
  }
  return unitOp.getResult();
}

Value ModelBuilder::embed() {
  Location at = where(spec.vocab.at);
  llvm::SmallVector<Value> ids{input("input_ids")};
  llvm::SmallVector<Attribute> tables{parameter(
      "embed.weight", Role::embed, {dim(spec.vocab), dim(spec.hidden)},
      spec.vocab.at)};
  if (spec.positions) {
    ids.push_back(input("position_ids"));
    tables.push_back(parameter("position.weight", Role::position,
                               {dim(spec.positions), dim(spec.hidden)},
                               spec.positions.at));
  }
  if (spec.tokenTypes) {
    ids.push_back(input("token_type_ids"));
    tables.push_back(parameter("token_type.weight", Role::tokenType,
                               {dim(spec.tokenTypes), dim(spec.hidden)},
                               spec.tokenTypes.at));
  }
  llvm::SmallVector<int64_t> offsets(ids.size(), 0);
  Value x = EmbedOp::create(op, at, stream(spec.hidden.value), ids,
                            op.getArrayAttr(tables),
                            op.getDenseI64ArrayAttr(offsets),
                            op.getF64FloatAttr(spec.embedScale));
  if (spec.embedNorm.present())
    x = NormOp::create(op, where(spec.embedNorm.at), x,
                       norm(spec.embedNorm, "embed_norm"));
  return x;
}

Value ModelBuilder::head(Value x) {
  const Head &head = *spec.head;
  if (head.transform) {
    x = linear(x, "head_transform", Role::dense, dim(spec.hidden),
               dim(spec.hidden), true, head.at);
    x = ActivateOp::create(op, where(head.at), x, head.transform->act);
    x = NormOp::create(op, where(head.at), x,
                       norm(head.transform->norm, "head_transform.norm"));
  }
  auto weight =
      head.tied ? FlatSymbolRefAttr::get(&context, "embed.weight")
                : parameter("head.weight", Role::head,
                            {dim(spec.vocab), dim(spec.hidden)}, head.at);
  FlatSymbolRefAttr bias;
  if (head.bias)
    bias = parameter("head.bias", Role::bias, {dim(spec.vocab)}, head.at);
  x = apply(x, weight, bias, spec.vocab.value, head.at, head.scale);
  if (head.softcap > 0)
    x = SoftcapOp::create(op, where(head.at), x,
                          op.getF64FloatAttr(head.softcap));
  return x;
}

Value ModelBuilder::pooled(Value x) {
  auto type = RankedTensorType::get({ShapedType::kDynamic, spec.hidden.value},
                                    f32);
  Value first = PoolOp::create(op, where(spec.at), type, x, Value(),
                               Value(), Pool::first);
  Value y = linear(first, "pooler", Role::dense, dim(spec.hidden),
                   dim(spec.hidden), true, spec.at);
  return ActivateOp::create(op, where(spec.at), y, Activation::tanh);
}

// The inputs that this model reads, in a fixed order.
void ModelBuilder::declareInputs() {
  auto add = [&](StringRef name, StringRef absent, int64_t below) {
    constexpr int64_t any = ShapedType::kDynamic;
    llvm::SmallVector<NamedAttribute> attributes{
        op.getNamedAttr("transformer.name", op.getStringAttr(name))};
    if (!absent.empty())
      attributes.push_back(op.getNamedAttr("transformer.default",
                                           op.getStringAttr(absent)));
    if (below > 0)
      attributes.push_back(op.getNamedAttr("transformer.below",
                                           op.getI64IntegerAttr(below)));
    inputs.push_back({name.str(),
                      name == "step"
                          ? RankedTensorType::get({1}, op.getI32Type())
                          : RankedTensorType::get({any, any}, op.getI32Type()),
                      op.getDictionaryAttr(attributes)});
  };
  bool positions = bool(spec.positions), scheduled = false;
  for (const Unit &unit : spec.units) {
    for (const Branch &branch : unit.branches)
      positions |= branch.attention && (branch.attention->rope ||
                                        !branch.attention->slopes.empty());
    for (auto *slot : {&unit.skipScale, &unit.branchScale, &unit.streamScale})
      for (const Scale &scale : slot->all)
        scheduled |= scale.kind == ScaleKind::scheduled;
  }
  add("input_ids", "", spec.vocab.value);
  add("attention_mask", "ones", 0);
  if (spec.tokenTypes)
    add("token_type_ids", "zeros", spec.tokenTypes.value);
  if (positions)
    add("position_ids", "positions", spec.positions.value);
  if (scheduled)
    add("step", "none", 0);
}

Value ModelBuilder::input(StringRef name) {
  for (auto [i, input] : llvm::enumerate(inputs))
    if (input.name == name)
      return forward.getArgument(i);
  return {};
}

void ModelBuilder::keep(Value x, int64_t index, LocationAttr at) {
  if (options.hiddenStates)
    KeepOp::create(op, where(at), x, "hidden_states", index);
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

  Value x = embed();
  keep(x, 0, spec.vocab.at);
  for (int64_t layer = 0; layer < spec.layers.value; ++layer) {
    for (const Unit &unit : spec.units)
      x = residual(x, unit, layer);
    // The last entry is taken after the final norm, below.
    if (layer + 1 < spec.layers.value)
      keep(x, layer + 1, spec.layers.at);
  }
  if (spec.finalNorm.present())
    x = NormOp::create(op, where(spec.finalNorm.at), x,
                       norm(spec.finalNorm, "final_norm"));
  keep(x, spec.layers.value, spec.layers.at);

  llvm::SmallVector<std::pair<StringRef, Value>> outputs{
      {"last_hidden_state", x}};
  if (spec.pooler)
    outputs.push_back({"pooler_output", pooled(x)});
  if (spec.head)
    outputs.push_back({"logits", head(x)});
  llvm::SmallVector<Value> results;
  llvm::SmallVector<Type> resultTypes;
  for (auto &[name, value] : outputs) {
    results.push_back(value);
    resultTypes.push_back(value.getType());
  }
  func::ReturnOp::create(op, where(spec.at), results);
  forward.setFunctionType(op.getFunctionType(types, resultTypes));
  for (auto [i, output] : llvm::enumerate(outputs))
    forward.setResultAttr(i, "transformer.name",
                          op.getStringAttr(output.first));
  return module;
}

void ModelBuilder::describe(ModelOp model) {
  model->setAttr("family", op.getStringAttr(spec.family));
  model->setAttr("layers", op.getI64IntegerAttr(spec.layers.value));
  model->setAttr("hidden_size", op.getI64IntegerAttr(spec.hidden.value));
  model->setAttr("vocab_size", op.getI64IntegerAttr(spec.vocab.value));
  if (spec.positions)
    model->setAttr("max_tokens", op.getI64IntegerAttr(spec.positions.value));
  if (options.withoutWeights)
    model->setAttr("weights", op.getStringAttr("none"));
}

OwningOpRef<ModuleOp> mille::import::build(const ModelSpec &spec,
                                           WeightSource &weights,
                                           const BuildOptions &options,
                                           MLIRContext &context) {
  return ModelBuilder(spec, weights, options, context).run();
}
