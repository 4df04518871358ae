// Names a residual unit in reports, by its parameters' names, and lists its
// layers.
// Must decide text only.
#include "dialects/transformer/UnitNames.h"

using namespace mlir;
using namespace mille::transformer;

// layers.*.attn.q.weight -> layers.*.attn; embed.weight -> embed; w -> w
static StringRef ownerOf(StringRef symbol) {
  while (symbol.consume_front("next.")) // CarryNorm's columns begin with it
    ;
  if (!symbol.consume_back(".weight"))
    symbol.consume_back(".bias");
  return symbol.rsplit('.').first;
}

std::string mille::unitName(ArrayRef<StringRef> weights) {
  SmallVector<StringRef> owners;
  for (StringRef weight : weights)
    if (StringRef owner = ownerOf(weight); !llvm::is_contained(owners, owner))
      owners.push_back(owner);
  if (owners.empty())
    return "unit";
  std::string name = owners.front().str();
  for (StringRef owner : ArrayRef(owners).drop_front())
    name += "+" + owner.substr(owner.rfind('.') + 1).str();
  return name;
}

std::string mille::unitName(
    Operation *residual,
    llvm::function_ref<FlatSymbolRefAttr(FlatSymbolRefAttr)> rename) {
  SmallVector<StringRef> weights, others;
  residual->walk([&](Operation *op) {
    if (auto linear = dyn_cast<LinearOp>(op))
      weights.push_back(rename(linear.getWeightAttr()).getValue());
    else if (auto byHead = dyn_cast<LinearByHeadOp>(op))
      weights.push_back(rename(byHead.getWeightAttr()).getValue());
    else
      op->getAttrDictionary().walk([&](FlatSymbolRefAttr symbol) {
        others.push_back(rename(symbol).getValue());
      });
  });
  return unitName(weights.empty() ? ArrayRef(others).take_front(1) : weights);
}

std::string mille::rangesOf(ArrayRef<int64_t> numbers, StringRef separator) {
  std::string text;
  for (size_t i = 0, end; i < numbers.size(); i = end) {
    for (end = i + 1; end < numbers.size(); ++end)
      if (numbers[end] != numbers[end - 1] + 1)
        break;
    text += (text.empty() ? "" : separator.str()) + std::to_string(numbers[i]);
    if (end > i + 1)
      text += "-" + std::to_string(numbers[end - 1]);
  }
  return text;
}
