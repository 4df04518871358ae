// Builds the beginning of a stack: tables of words, positions and token types,
// their scale, norm and projection.
#include "compiler/import/model/ModelBuilder.h"

using namespace mlir;
using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

FlatSymbolRefAttr ModelBuilder::wordTable(bool shared) {
  const Extent &width = stack->words ? stack->words.width : stack->hidden;
  std::string name = shared ? "embed.weight" : named("embed.weight");
  return parameter(name, Role::embed, {dim(stack->vocab), dim(width)},
                   stack->vocab.at);
}

// The tokens' rows of the position table, learned or computed.
Value ModelBuilder::positions(FlatSymbolRefAttr &table, const Extent &width) {
  const PositionRule &rule = stack->positionRule;
  LocationAttr at = stack->positions.at;
  std::string name = named("position.weight");
  if (!rule.divisor) {
    table = parameter(name, Role::position, {dim(stack->positions), dim(width)},
                      at);
  } else {
    table = FlatSymbolRefAttr::get(&context, name);
    auto type = RankedTensorType::get({stack->positions.value, width.value},
                                      rule.rounded ? f32 : op.getF64Type());
    if (made.insert(name).second)
      declare(
          name, {dim(stack->positions), dim(width)},
          SinusoidAttr::get(&context, F64(*rule.divisor), rule.zeroRow, type),
          at);
  }
  if (rule.from == PositionsFrom::input)
    return input("position_ids");
  bool ids = rule.from == PositionsFrom::ids;
  Value counted = input(ids ? "input_ids" : "attention_mask");
  return countTokens(counted,
                     ids ? op.getI64IntegerAttr(rule.padding) : IntegerAttr(),
                     1, 1, at);
}

// Adds the sum of the tables' rows to words.
Value ModelBuilder::addTables(Value words, ArrayRef<Value> ids,
                              ArrayRef<Attribute> tables,
                              ArrayRef<int64_t> offsets) {
  if (ids.empty())
    return words;
  Location at = where(stack->vocab.at);
  Value sum =
      EmbedOp::create(op, at, words.getType(), ids, op.getArrayAttr(tables),
                      op.getDenseI64ArrayAttr(offsets), op.getF64FloatAttr(1));
  return AddOp::create(op, at, words, sum);
}

Value ModelBuilder::embed() {
  const Projection &words = stack->words;
  const bool early = words && stack->projectedAt == ProjectedAt::words;
  const Extent &width = words ? words.width : stack->hidden;
  const Extent &sumWidth = early ? stack->hidden : width;
  llvm::SmallVector<Value> ids{input("input_ids")};
  const bool shared = stack->sharedWords &&
                      !weights.differ(named("embed.weight"), "embed.weight");
  llvm::SmallVector<Attribute> tables{wordTable(shared)};
  llvm::SmallVector<int64_t> offsets{0};
  if (stack->positions) {
    FlatSymbolRefAttr table;
    ids.push_back(positions(table, sumWidth));
    tables.push_back(table);
    offsets.push_back(stack->positionRule.offset);
  }
  if (stack->tokenTypes) {
    ids.push_back(input("token_type_ids"));
    tables.push_back(parameter(named("token_type.weight"), Role::tokenType,
                               {dim(stack->tokenTypes), dim(sumWidth)},
                               stack->tokenTypes.at));
    offsets.push_back(0);
  }
  auto project = [&](Value x) {
    return linear(x, named("embed_project"), Role::dense, dim(stack->hidden),
                  dim(width), words.bias, words.width.at);
  };
  const size_t first = early ? 1 : ids.size(); // rows before the projection
  Value x = EmbedOp::create(
      op, where(stack->vocab.at), stream(width.value),
      ArrayRef(ids).take_front(first),
      op.getArrayAttr(ArrayRef(tables).take_front(first)),
      op.getDenseI64ArrayAttr(ArrayRef(offsets).take_front(first)),
      op.getF64FloatAttr(stack->embedScale));
  if (early)
    x = addTables(project(x), ArrayRef(ids).drop_front(),
                  ArrayRef(tables).drop_front(),
                  ArrayRef(offsets).drop_front());
  if (words && stack->projectedAt == ProjectedAt::sum)
    x = project(x);
  const bool late = words && stack->projectedAt == ProjectedAt::normed;
  x = normed(x, stack->embedNorm, named("embed_norm"),
             late ? &width : &stack->hidden);
  return late ? project(x) : x;
}
