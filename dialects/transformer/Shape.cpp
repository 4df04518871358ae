// The shape attribute: text, constraints, and its extents in C++.
// Must not know which sizes a model has.
#include "dialects/transformer/Shape.h"
#include "dialects/transformer/Identifier.h"
#include "dialects/transformer/Transformer.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

std::string mille::extentsText(ArrayRef<ShapeExtent> shape) {
  auto texts =
      llvm::map_range(shape, [](const ShapeExtent &e) { return e.text(); });
  return "[" + llvm::join(texts, ", ") + "]";
}

std::string mille::shapeText(ArrayRef<int64_t> shape) {
  return "[" + llvm::join(llvm::map_range(shape, extentText), ", ") + "]";
}

std::string mille::extentText(int64_t extent) {
  return ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
}

ShapeAttr ShapeAttr::get(MLIRContext *context, ArrayRef<ShapeExtent> shape) {
  Builder builder(context);
  SmallVector<Attribute> extents;
  for (const ShapeExtent &extent : shape)
    if (extent.isSize())
      extents.push_back(builder.getStringAttr(extent.size));
    else
      extents.push_back(builder.getI64IntegerAttr(extent.count));
  return get(context, extents);
}

Shape ShapeAttr::getShape() const {
  Shape shape;
  for (Attribute extent : getExtents())
    if (auto size = dyn_cast<StringAttr>(extent))
      shape.push_back(ShapeExtent(size.getValue()));
    else
      shape.push_back(ShapeExtent(cast<IntegerAttr>(extent).getInt()));
  return shape;
}

bool ShapeAttr::has(StringRef size) const {
  return llvm::any_of(getExtents(), [&](Attribute extent) {
    auto name = dyn_cast<StringAttr>(extent);
    return name && name.getValue() == size;
  });
}

LogicalResult
ShapeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  ArrayRef<Attribute> extents) {
  for (Attribute extent : extents) {
    auto name = dyn_cast<StringAttr>(extent);
    auto number = dyn_cast<IntegerAttr>(extent);
    if (!(name && isIdentifier(name.getValue())) &&
        !(number && number.getInt() >= 0)) // C1
      return emitError() << "extent is " << extent
                         << " but must be >= 0 or the name of a size";
  }
  return success();
}

// <batch, tokens, 768>
Attribute ShapeAttr::parse(AsmParser &parser, Type) {
  SMLoc at = parser.getCurrentLocation();
  SmallVector<Attribute> extents;
  Builder builder(parser.getContext());
  auto extent = [&]() -> ParseResult {
    StringRef name;
    int64_t number;
    if (succeeded(parser.parseOptionalKeyword(&name))) {
      extents.push_back(builder.getStringAttr(name));
      return success();
    }
    if (parser.parseInteger(number))
      return failure();
    extents.push_back(builder.getI64IntegerAttr(number));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, extent))
    return {};
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(),
                    ArrayRef<Attribute>(extents));
}

void ShapeAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getShape(), printer, [&](const ShapeExtent &extent) {
    printer << extent.text();
  });
  printer << '>';
}
