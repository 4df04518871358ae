// Builds residual units: the norms, scales and the skip around branches.
#include "compiler/import/model/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

NormAttr ModelBuilder::norm(const Norm &norm, StringRef name,
                            const Extent *width) {
  return this->norm(norm, name, dim(width ? *width : stack->hidden), 0);
}

NormAttr ModelBuilder::norm(const Norm &norm, StringRef name, Dimension width,
                            int64_t group) {
  FlatSymbolRefAttr weight, bias;
  if (norm.affine != Affine::none)
    weight = parameter((name + ".weight").str(),
                       norm.affine == Affine::weight ? Role::normWeight
                                                     : Role::normOffsetWeight,
                       {width}, norm.at);
  if (norm.bias)
    bias = parameter((name + ".bias").str(), Role::bias, {width}, norm.at);
  return NormAttr::get(&context, norm.kind, norm.eps, norm.affine, weight, bias,
                       group);
}

Value ModelBuilder::normed(Value x, const Norm &norm, StringRef name,
                           const Extent *width) {
  if (!norm.present())
    return x;
  return NormOp::create(op, where(norm.at), x, this->norm(norm, name, width));
}

ScaleAttr ModelBuilder::scale(const Scale &scale, const Unit &unit,
                              StringRef slot, int64_t layer) {
  std::string prefix = layerPrefix(layer);
  std::string name = scale.share == Share::unit    ? prefix + unit.name + "."
                     : scale.share == Share::layer ? prefix
                                                   : named("");
  FlatSymbolRefAttr symbol;
  if (scale.kind == ScaleKind::learned_scalar)
    symbol = parameter(name + slot.str(), Role::scale, {Dimension{1, {}}},
                       scale.at, scale.init);
  else if (scale.kind == ScaleKind::learned_channel)
    symbol = parameter(name + slot.str(), Role::scale, {dim(stack->hidden)},
                       scale.at, scale.init);
  StringAttr formula;
  if (!scale.formula.empty())
    formula = op.getStringAttr(scale.formula);
  return ScaleAttr::get(&context, scale.kind, scale.value, formula, symbol,
                        scale.share, scale.from, scale.to, scale.steps);
}

// The list has an entry per branch, or a single one for a shared input norm.
ArrayAttr ModelBuilder::norms(const PerLayer<Norm> &slot, const Unit &unit,
                              StringRef name, int64_t layer, bool shared) {
  const Norm *norm = slot.at(layer);
  if (!norm || !norm->present())
    return {};
  std::string prefix = layerPrefix(layer);
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
  std::string prefix = layerPrefix(layer) + unit.name + ".";
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
        unit.branches.size(), this->scale(*scale, unit, "branch_scale", layer));
    branchScale = op.getArrayAttr(all);
  }
  // Without a norm, tap `normed` equals tap `input`.
  Tap tap = inNorm ? unit.tap : Tap::input;
  auto unitOp = ResidualOp::create(
      op, at, x.getType(), x, inNorm, branchNorm, outNorm,
      TapAttr::get(&context, tap), skip, branchScale, stream,
      op.getI64IntegerAttr(layer), StringAttr(), unit.branches.size());
  OpBuilder::InsertionGuard guard(op);
  for (auto [branch, region] : llvm::zip(unit.branches, unitOp.getBranches())) {
    Block *block = op.createBlock(&region, {}, {x.getType()}, {at});
    Value u = block->getArgument(0);
    Value y = branch.attention     ? attend(u, branch, layer)
              : branch.convolution ? convolve(branch, layer)
                                   : feedForward(u, branch, layer);
    YieldOp::create(op, where(branch.at), y);
  }
  return unitOp.getResult();
}
