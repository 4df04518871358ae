// Builds the parts that branches have in common: learned shifts, and a stored
// matrix that holds several weights. Must not know the norms and scales around
// a branch, which are the unit's.
#include "compiler/import/model/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

RankedTensorType ModelBuilder::as(Value like, int64_t channels) {
  auto shape =
      llvm::to_vector(llvm::cast<RankedTensorType>(like.getType()).getShape());
  shape.back() = channels;
  return RankedTensorType::get(shape, f32);
}

Value ModelBuilder::shifted(Value input, bool wanted, StringRef name,
                            LocationAttr at) {
  if (!wanted)
    return input;
  auto symbol = parameter((name + ".input_shift").str(), Role::scale,
                          {Dimension{1, {}}}, at);
  auto shift = ScaleAttr::get(&context, ScaleKind::learned_scalar, 1.0,
                              StringAttr(), symbol, Share::unit, 0.0, 1.0, 0);
  return AffineOp::create(op, where(at), input, ScaleAttr(), shift);
}

void ModelBuilder::splitFused(GateLayout layout, bool activatedSecond,
                              Dimension half, int64_t axis, StringRef name,
                              StringRef suffix,
                              llvm::SmallVector<Dimension, 2> shape,
                              LocationAttr at) {
  std::string up = (name + "in" + suffix).str();
  std::string gate = (name + "gate" + suffix).str();
  if (!made.insert(up).second) // another layer with the same weights made it
    return;
  made.insert(gate);
  llvm::SmallVector<Dimension, 2> part = shape;
  shape[axis].size = 2 * half.size;
  part[axis] = half;
  const bool interleaved = layout == GateLayout::interleaved;
  Wanted wanted{up, shape, suffix == ".bias" ? Role::bias : Role::ffnIn};
  wanted.biasOf = Role::ffnIn;
  wanted.fanIn = stack->hidden.value;
  const int64_t entries = axis == 0 ? 1 : shape[0].size;
  wanted.groups = entries * (interleaved ? half.size : 1);
  for (bool second : {false, true}) {
    const bool isGate = second == activatedSecond;
    wanted.parts.push_back({isGate ? gate : up,
                            isGate ? Role::gate : Role::ffnIn,
                            entries * half.size});
  }
  Attribute value = valueOf(wanted);
  if (!value)
    return;
  for (bool isGate : {false, true}) {
    bool second = isGate == activatedSecond;
    int64_t offset = !second ? 0 : interleaved ? 1 : half.size;
    declare(isGate ? gate : up, part,
            SliceAttr::get(&context, value, axis, offset, half.size,
                           interleaved ? 2 : 1),
            at);
  }
}

// Takes the rows of queries, keys and values out of one matrix or bias.
void ModelBuilder::splitQkv(const Attention &a, StringRef name,
                            StringRef suffix, LocationAttr at) {
  if (!made.insert((name + "qkv" + suffix).str()).second)
    return; // another layer with the same weights has made it
  const bool isBias = suffix == ".bias";
  const int64_t groups = a.kvHeads.value;
  const bool grouped = a.layout == QkvLayout::grouped;
  const int64_t q = a.heads.value * a.headDim.value,
                k = groups * a.headDim.value, v = groups * a.valueDim.value;
  Dimension rows{q + k + v, {&a.heads, &a.kvHeads, &a.headDim}};
  llvm::SmallVector<Dimension, 2> whole{rows};
  if (!isBias)
    whole.push_back(dim(stack->hidden));
  Wanted wanted{(name + "qkv" + suffix).str(), whole,
                isBias ? Role::bias : Role::query};
  wanted.biasOf = Role::query;
  wanted.fanIn = stack->hidden.value;
  wanted.groups = grouped ? groups : 1;
  for (auto [part, role, size] :
       {std::tuple<StringRef, Role, int64_t>{"q", Role::query, q},
        {"k", Role::key, k},
        {"v", Role::value, v}})
    wanted.parts.push_back({(name + part + suffix).str(), role, size});
  Attribute value = valueOf(wanted);
  const int64_t width = isBias ? 1 : stack->hidden.value;
  if (value && grouped)
    value = ReshapeAttr::get(
        &context, value,
        op.getDenseI64ArrayAttr({groups, rows.size / groups, width}));
  int64_t offset = 0;
  for (auto [part, size] :
       {std::pair<StringRef, int64_t>{"q", q}, {"k", k}, {"v", v}}) {
    std::string own = (name + part + suffix).str();
    made.insert(own);
    if (!value)
      continue;
    const int64_t each = grouped ? size / groups : size;
    Attribute slice =
        SliceAttr::get(&context, value, grouped ? 1 : 0, offset, each, 1);
    offset += each;
    llvm::SmallVector<Dimension, 2> shape{Dimension{size, {}}};
    llvm::SmallVector<int64_t, 2> extents{size};
    if (!isBias) {
      shape.push_back(whole[1]);
      extents.push_back(width);
    }
    if (grouped)
      slice =
          ReshapeAttr::get(&context, slice, op.getDenseI64ArrayAttr(extents));
    declare(own, shape, slice, at);
  }
}
