// The table of the transformer dialect's discardable attributes.
// Must not check that a name is used once: the model does.
#include "dialects/transformer/Discardable.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

namespace {

bool isShape(Attribute value) { return isa<ShapeAttr>(value); }

bool isGrid(Attribute value) { return isa<GridAttr>(value); }

bool isDefault(Attribute value) {
  auto word = dyn_cast<StringAttr>(value);
  return word &&
         llvm::is_contained({"ones", "zeros", "positions", "none", "last"},
                            word.getValue());
}

LogicalResult verifyTensor(const AttributeSite &site, StringRef name) {
  if (isa<ShapedType>(site.type))
    return success();
  return errorAt(site) << "has " << name << " but is " << site.type
                       << ", no tensor";
}

LogicalResult verifyName(const AttributeSite &site, Attribute) {
  return verifyTensor(site, "transformer.name");
}

LogicalResult verifyDefault(const AttributeSite &site, Attribute) {
  return verifyTensor(site, "transformer.default");
}

LogicalResult verifyBelow(const AttributeSite &site, Attribute) {
  auto shaped = dyn_cast<ShapedType>(site.type);
  if (shaped && shaped.getElementType().isSignlessInteger(32))
    return success();
  return errorAt(site) << "has transformer.below but is " << site.type
                       << ", no tensor of i32";
}

// Kernel programs have a size as their first argument, and flatten rows there.
bool isFlat(Operation *op) {
  auto types = cast<FunctionOpInterface>(op).getArgumentTypes();
  return !types.empty() && types.front().isIndex();
}

LogicalResult verifyShape(const AttributeSite &site, Attribute value) {
  if (failed(verifyTensor(site, "transformer.shape")))
    return failure();
  auto shaped = cast<ShapedType>(site.type);
  Shape shape = cast<ShapeAttr>(value).getShape();
  if (site.others.get("transformer.state") && shape.size() != 4)
    return errorAt(site) << "is a state whose transformer.shape has "
                         << shape.size() << " extents but must have 4";
  if (isFlat(site.op) || !shaped.hasRank())
    return success();
  // One number per token: the type says it as [batch, tokens, 1].
  ArrayRef<int64_t> extents = shaped.getShape();
  if (extents.size() == shape.size() + 1 && extents.back() == 1)
    extents = extents.drop_back();
  bool same = extents.size() == shape.size();
  for (size_t i = 0; same && i < shape.size(); ++i)
    same = ShapedType::isDynamic(extents[i])
               ? shape[i].isSize()
               : !shape[i].isSize() && shape[i].count == extents[i];
  if (same)
    return success();
  return errorAt(site) << "is " << site.type << " but its transformer.shape is "
                       << extentsText(shape);
}

LogicalResult verifyState(const AttributeSite &site, Attribute) {
  if (failed(verifyTensor(site, "transformer.state")))
    return failure();
  if (site.op->getParentOfType<ModelOp>() &&
      !site.others.get("transformer.shape"))
    return errorAt(site) << "is a state but has no transformer.shape";
  return success();
}

LogicalResult verifyRewrites(const AttributeSite &site, Attribute value) {
  return verifyDictionaries(
      site, "transformer.rewrites", value,
      {{"name", "unit", "layers", "status", "reason", "law", "bound"},
       {"roundings"}});
}

// An input with a grid is [batch, channels, height, width] with two sizes.
LogicalResult verifyGrid(const AttributeSite &site, Attribute value) {
  auto given =
      dyn_cast_or_null<ShapeAttr>(site.others.get("transformer.shape"));
  Shape shape = given ? given.getShape() : Shape();
  bool fits = shape.size() == 4 && shape[2].isSize() && shape[3].isSize() &&
              shape[2] != shape[3];
  if (!fits)
    return errorAt(site) << "has transformer.grid but its transformer.shape is "
                         << extentsText(shape)
                         << ", not [batch, channels, a size, another size]";
  auto grid = cast<GridAttr>(value);
  SmallVector<StringRef> names{grid.getTokens()};
  for (PartAttr part : grid.getParts())
    names.push_back(part.getTokens());
  for (StringRef tokens : names)
    if (given.has(tokens))
      return errorAt(site) << "has transformer.grid whose tokens are \""
                           << tokens << "\", a size of its own";
  return success();
}

constexpr unsigned port = AttributeSite::argument | AttributeSite::result;

const DiscardableAttribute table[] = {
    {"transformer.name", port, isName, "a string that is not empty",
     verifyName},
    {"transformer.shape", port, isShape, "a #transformer.shape", verifyShape},
    {"transformer.default", AttributeSite::argument, isDefault,
     "\"ones\", \"zeros\", \"positions\", \"none\" or \"last\"", verifyDefault},
    {"transformer.below", AttributeSite::argument, isInt64From<1>,
     "an i64 of at least 1", verifyBelow},
    {"transformer.grid", AttributeSite::argument, isGrid, "a #transformer.grid",
     verifyGrid},
    {"transformer.state", AttributeSite::argument, isUnit, "without a value",
     verifyState},
    {"transformer.rewrites", AttributeSite::function, isListOfDictionaries,
     "a list of dictionaries", verifyRewrites},
};

} // namespace

LogicalResult TransformerDialect::verifyOperationAttribute(Operation *op,
                                                           NamedAttribute a) {
  return verifyOnOperation(op, a, table);
}
LogicalResult TransformerDialect::verifyRegionArgAttribute(Operation *op,
                                                           unsigned,
                                                           unsigned number,
                                                           NamedAttribute a) {
  return verifyOnArgument(op, number, a, table);
}
LogicalResult TransformerDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned number, NamedAttribute a) {
  return verifyOnResult(op, number, a, table);
}
