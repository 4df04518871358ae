// Scores between the contents of tokens and their distance: tables that every
// layer projects for itself.
#include "compiler/import/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

// The stack's table of distances, normed where it is.
Attribute ModelBuilder::distances(const ContentTable &table, LocationAttr at) {
  Attribute rows =
      parameter(named("relative.weight"), Role::position,
                {dim(table.entries), dim(stack->hidden)}, at);
  if (!table.norm.present())
    return rows;
  NormAttr norm = this->norm(table.norm, named("relative_norm"));
  return NormedAttr::get(&context, rows, norm.getWeight(), norm.getBias(),
                         op.getF64FloatAttr(table.norm.eps));
}

// x (queries or keys) times this layer's projection of the distances, by the
// other side's weights or by own ones.
Value ModelBuilder::contentBias(Value x, bool ofKey, const Attention &a,
                                StringRef name, LocationAttr at) {
  const ContentTable &table = *a.content;
  const StringRef side = ofKey ? "q" : "k";
  std::string own =
      (name + (table.ownProjections ? "distance_" : "") + side).str();
  Dimension out = dim(a.heads, a.headDim);
  auto weight = parameter(own + ".weight", ofKey ? Role::query : Role::key,
                          {out, dim(stack->hidden)}, at);
  auto bias = parameter(own + ".bias", Role::bias, {out}, at);
  std::string projected = (name + "distances_" + side + ".weight").str();
  auto symbol = FlatSymbolRefAttr::get(&context, projected);
  if (made.insert(projected).second)
    declare(projected, {dim(table.entries), out},
            PlusAttr::get(&context,
                          ProductAttr::get(&context, distances(table, at), weight),
                          bias),
            at);
  constexpr int64_t any = ShapedType::kDynamic;
  return ContentBiasOp::create(
      op, where(at), RankedTensorType::get({any, a.heads.value, any, any}, f32),
      x, op.getBoolAttr(ofKey), symbol, op.getF64FloatAttr(table.factor),
      op.getDenseI64ArrayAttr(table.rows));
}
