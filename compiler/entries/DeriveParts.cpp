// Finds parts of `forward` by the inputs that its outputs need. Outputs without
// a common input belong to different towers. If one output is computed from
// another that needs fewer inputs, the latter is an encoder's. Must not make
// the entries.
#include "compiler/entries/DeriveParts.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mille;
using namespace mille::entries;

namespace {

using Inputs = llvm::SmallSetVector<unsigned, 4>;

bool contains(const Inputs &all, const Inputs &some) {
  return llvm::all_of(some, [&](unsigned one) { return all.contains(one); });
}

bool meet(const Inputs &left, const Inputs &right) {
  return llvm::any_of(left, [&](unsigned one) { return right.contains(one); });
}

std::string towerName(func::FuncOp forward, const Inputs &inputs) {
  StringRef input = inputName(forward, inputs.front());
  return llvm::StringSwitch<StringRef>(input)
      .Case("input_ids", "text")
      .Case("pixel_values", "image")
      .Case("input_features", "audio")
      .Default(input)
      .str();
}

// The outputs that need only these inputs.
EntryPart partWithin(ArrayRef<Inputs> needs, const Inputs &inputs,
                     std::string name) {
  EntryPart part;
  part.name = std::move(name);
  for (auto [output, own] : llvm::enumerate(needs))
    if (!own.empty() && contains(inputs, own))
      part.outputs.push_back(output);
  return part;
}

// The minimal sets of inputs that outputs need, if these are disjoint.
SmallVector<EntryPart> towersOf(func::FuncOp forward, ArrayRef<Inputs> needs) {
  SmallVector<const Inputs *> towers;
  for (const Inputs &own : needs) {
    bool isLeast = !own.empty() && llvm::none_of(needs, [&](const Inputs &o) {
      return !o.empty() && o.size() < own.size() && contains(own, o);
    });
    bool isKnown = llvm::any_of(towers, [&](const Inputs *tower) {
      return contains(*tower, own) && contains(own, *tower);
    });
    if (isLeast && !isKnown)
      towers.push_back(&own);
  }
  SmallVector<EntryPart> parts;
  for (const Inputs *tower : towers)
    for (const Inputs *other : towers)
      if (tower != other && meet(*tower, *other))
        return {};
  if (towers.size() > 1)
    for (const Inputs *tower : towers)
      parts.push_back(partWithin(needs, *tower, towerName(forward, *tower)));
  return parts;
}

SmallVector<EntryPart> encoderAndDecoderOf(func::FuncOp forward,
                                           ArrayRef<Inputs> needs) {
  for (auto [output, own] : llvm::enumerate(needs)) {
    Value value = outputValue(forward, output);
    for (auto [later, all] : llvm::enumerate(needs)) {
      bool isMore = own.size() < all.size() && contains(all, own);
      if (own.empty() || !isMore ||
          !needsOf(outputValue(forward, later))
               .ops.contains(value.getDefiningOp()))
        continue;
      EntryPart encode = partWithin(needs, own, "encode"), decode;
      decode.name = "decode";
      decode.cut = output;
      for (unsigned i = 0; i < needs.size(); ++i)
        if (!llvm::is_contained(encode.outputs, i))
          decode.outputs.push_back(i);
      return {encode, decode};
    }
  }
  return {};
}

} // namespace

SmallVector<EntryPart> mille::entries::partsOf(func::FuncOp forward) {
  SmallVector<Inputs> needs;
  for (unsigned i = 0; i < forward.getNumResults(); ++i)
    needs.push_back(requiredInputs(forward, i));
  SmallVector<EntryPart> towers = towersOf(forward, needs);
  return towers.empty() ? encoderAndDecoderOf(forward, needs) : towers;
}
