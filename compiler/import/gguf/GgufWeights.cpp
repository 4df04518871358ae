// Makes expressions over a GGUF's tensors. Must know traits only, not
// architectures.
#include "compiler/import/gguf/GgufWeights.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

Family mille::import::withGgufNames(const Architecture &architecture) {
  static constexpr StringRef other[] = {"rope_freqs.weight", "output.weight"};
  Family family = *architecture.family;
  family.prefix = "";
  family.tensors = architecture.tensors;
  family.usual = ggufTensors();
  family.otherTensors = other;
  return family;
}

mlir::Attribute GgufWeights::reshaped(mlir::Attribute value,
                                      llvm::ArrayRef<int64_t> shape) {
  return ReshapeAttr::get(&context, value,
                          mlir::DenseI64ArrayAttr::get(&context, shape));
}

mlir::Attribute GgufWeights::permuted(mlir::Attribute value,
                                      llvm::ArrayRef<int64_t> order) {
  return PermuteAttr::get(&context, value,
                          mlir::DenseI64ArrayAttr::get(&context, order));
}

// [heads, half, 2, in] -> [heads, 2, half, in]
mlir::Attribute GgufWeights::halvesOfHeads(mlir::Attribute value,
                                           const Wanted &wanted) {
  const int64_t head = wanted.attention->headDim.value;
  llvm::SmallVector<int64_t> shape, paired, order{0, 2, 1};
  for (const Dimension &dimension : wanted.shape)
    shape.push_back(dimension.size);
  paired = {shape[0] / head, head / 2, 2};
  if (shape.size() == 2) {
    paired.push_back(shape[1]);
    order.push_back(3);
  }
  return reshaped(permuted(reshaped(value, paired), order), shape);
}

// Files for the absorbed form have keys [heads, rank, nope], each transposed,
// and values [heads, value, rank], in place of [heads * (nope + value), rank].
mlir::Attribute GgufWeights::keysAndValues(const Wanted &wanted) {
  const Attention &a = *wanted.attention;
  const int64_t heads = a.heads.value, rank = a.latent->rank.value;
  const std::string stem =
      StringRef(wanted.name).drop_back(StringRef("kv_b.weight").size()).str();
  const Dimension byHead{heads, {&a.heads}}, byRank{rank, {&a.latent->rank}};
  mlir::Attribute key =
      stored.value({stem + "k_b.weight",
                    {byHead, byRank, {a.latent->nope.value, {&a.latent->nope}}},
                    Role::key});
  mlir::Attribute value =
      stored.value({stem + "v_b.weight",
                    {byHead, {a.valueDim.value, {&a.valueDim}}, byRank},
                    Role::value});
  if (!key || !value)
    return {};
  // The parts of a head lie one after the other along the first dimension.
  mlir::Attribute parts[] = {permuted(key, {2, 0, 1}),
                             permuted(value, {1, 0, 2})};
  return reshaped(permuted(ConcatAttr::get(&context, parts), {1, 0, 2}),
                  {wanted.shape[0].size, rank});
}

mlir::Attribute GgufWeights::value(const Wanted &wanted) {
  StringRef name = wanted.name;
  if (name.ends_with("attn.kv_b.weight") &&
      tensors.find("blk.0.attn_k_b.weight"))
    return keysAndValues(wanted);
  mlir::Attribute value = stored.value(wanted);
  if (!value)
    return {};
  auto isOf = [&](StringRef part) {
    return name.ends_with((part + ".weight").str()) ||
           name.ends_with((part + ".bias").str());
  };
  if (architecture.has(pairedRows) && (isOf("attn.q") || isOf("attn.k")))
    return halvesOfHeads(value, wanted);
  if (architecture.has(offsetNorms) && wanted.role == Role::normOffsetWeight)
    return PlusAttr::get(
        &context, value,
        mlir::FloatAttr::get(mlir::Float64Type::get(&context), -1.0));
  return value;
}
