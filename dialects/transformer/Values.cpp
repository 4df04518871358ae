// What parameter value expressions mean for types and symbols. Their numbers
// are computed in compiler/weights.
#include "dialects/transformer/Panels.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::transformer;
using Types = ArrayRef<RankedTensorType>; // of an expression's operands
using TypeOr = FailureOr<RankedTensorType>;

#include "dialects/transformer/ParameterValue.cpp.inc"

namespace {

LogicalResult no(std::string &why, const Twine &reason) {
  if (why.empty())
    why = reason.str();
  return failure();
}

// Every shape comes through here: static, > 0, and no product overflows.
TypeOr shaped(ArrayRef<int64_t> shape, MLIRContext *context, std::string &why) {
  int64_t elements = sizeof(float);
  for (int64_t extent : shape)
    if (extent <= 0)
      return no(why, "has an extent that is not a number > 0");
    else if (__builtin_mul_overflow(elements, extent, &elements))
      return no(why, "has more elements than any memory");
  return RankedTensorType::get(shape, Float32Type::get(context));
}

LogicalResult hasRows(RankedTensorType type, std::string &why) {
  return type.getRank() >= 2
             ? success()
             : no(why, "takes the rows of a tensor that has fewer than two "
                       "dimensions");
}

class TypeOf {
public:
  TypeOf(ResolveSymbol resolve, std::string &why)
      : resolve(resolve), why(why) {}

  TypeOr operator()(Attribute value) {
    if (++depth > 64)
      return no(why, "nests more than 64 deep");
    TypeOr type = ofValue(value);
    --depth;
    return type;
  }

private:
  TypeOr ofValue(Attribute value) {
    if (auto node = dyn_cast_or_null<ParameterValue>(value)) {
      SmallVector<RankedTensorType> operands;
      for (Attribute operand : node.getOperands()) {
        TypeOr type = (*this)(operand);
        if (failed(type))
          return failure();
        operands.push_back(*type);
      }
      return node.inferType(operands, why);
    }
    if (auto name = dyn_cast_or_null<FlatSymbolRefAttr>(value)) {
      Attribute named = resolve(name);
      if (!named)
        return no(why,
                  "names @" + name.getValue() + ", which is not a parameter");
      return (*this)(named);
    }
    if (isa_and_nonnull<FloatAttr>(value))
      return shaped({1}, value.getContext(), why);
    if (auto declared = dyn_cast_or_null<TypeAttr>(value))
      if (auto type = dyn_cast<RankedTensorType>(declared.getValue()))
        return shaped(type.getShape(), value.getContext(), why);
    return no(why, "is not a parameter's value");
  }

  ResolveSymbol resolve;
  std::string &why;
  int depth = 0;
};

} // namespace

TypeOr StoredAttr::inferType(Types, std::string &why) const {
  return shaped(getType().getShape(), getContext(), why);
}

TypeOr DrawnAttr::inferType(Types, std::string &why) const {
  return shaped(getType().getShape(), getContext(), why);
}

TypeOr NumbersAttr::inferType(Types, std::string &why) const {
  return shaped(getType().getShape(), getContext(), why);
}

TypeOr SinusoidAttr::inferType(Types, std::string &why) const {
  TypeOr type = shaped(getType().getShape(), getContext(), why);
  if (failed(type))
    return type;
  if (type->getRank() != 2 || type->getDimSize(1) % 2)
    return no(why,
              "has sines and cosines in a tensor that is not [positions, 2n]");
  if (!(getDivisor() > 0) || !std::isfinite(getDivisor()))
    return no(why, "has a sinusoid's divisor of " + formatDouble(getDivisor()) +
                       ", which is not finite and > 0");
  if (getZero() < -1 || getZero() >= type->getDimSize(0))
    return no(why, "has zeros in row " + Twine(getZero()) + " of " +
                       Twine(type->getDimSize(0)));
  return type;
}

TypeOr SliceAttr::inferType(Types of, std::string &why) const {
  const int64_t axis = getAxis(), size = getSize(), stride = getStride();
  if (axis < 0 || axis >= of[0].getRank())
    return no(why, "slices axis " + Twine(axis) + " of a rank " +
                       Twine(of[0].getRank()) + " tensor");
  int64_t extent = of[0].getDimSize(axis);
  if (getOffset() < 0 || size <= 0 || stride <= 0 || getOffset() >= extent ||
      (extent - 1 - getOffset()) / stride < size - 1)
    return no(why, "slices " + Twine(size) + " elements from " +
                       Twine(getOffset()) + " of an extent of " +
                       Twine(extent));
  auto shape = llvm::to_vector(of[0].getShape());
  shape[axis] = size;
  return shaped(shape, getContext(), why);
}

TypeOr TransposeAttr::inferType(Types of, std::string &why) const {
  if (of[0].getRank() != 2)
    return no(why, "transposes a rank " + Twine(of[0].getRank()) + " tensor");
  return shaped({of[0].getDimSize(1), of[0].getDimSize(0)}, getContext(), why);
}

TypeOr ConcatAttr::inferType(Types of, std::string &why) const {
  if (of.empty() || of[0].getRank() == 0)
    return no(why, "joins scalars");
  auto shape = llvm::to_vector(of[0].getShape());
  for (RankedTensorType type : of.drop_front()) {
    if (type.getRank() != int64_t(shape.size()) ||
        ArrayRef<int64_t>(shape).drop_front() != type.getShape().drop_front())
      return no(why, "joins tensors of different shapes");
    if (__builtin_add_overflow(shape[0], type.getDimSize(0), &shape[0]))
      return no(why, "has more elements than any memory");
  }
  return shaped(shape, getContext(), why);
}

TypeOr TimesAttr::inferType(Types of, std::string &why) const {
  RankedTensorType type = of[0], factor = of[1];
  bool one = factor.getNumElements() == 1;
  bool rows = factor.getRank() == 1 && type.getRank() > 0 &&
              factor.getDimSize(0) == type.getDimSize(0);
  bool columns = factor.getRank() == 2 && type.getRank() == 2 &&
                 factor.getDimSize(0) == 1 &&
                 factor.getDimSize(1) == type.getDimSize(1);
  if (!one && !rows && !columns)
    return no(why,
              "multiplies by a tensor that has neither one element nor one per "
              "row or column");
  return type;
}

TypeOr PlusAttr::inferType(Types of, std::string &why) const {
  RankedTensorType type = of[0], term = of[1];
  bool toRows = type.getRank() == 2 && term.getRank() == 1 &&
                term.getDimSize(0) == type.getDimSize(1);
  if (term.getNumElements() != 1 && !toRows &&
      term.getShape() != type.getShape())
    return no(why, "adds tensors of different shapes");
  return type;
}

TypeOr GatherAttr::inferType(Types of, std::string &why) const {
  if (of[0].getRank() < 1)
    return no(why, "gathers from a scalar");
  for (int64_t row : getIndices().asArrayRef())
    if (row < -1 || row >= of[0].getDimSize(0))
      return no(why, "gathers row " + Twine(row) + " of " +
                         Twine(of[0].getDimSize(0)));
  auto shape = llvm::to_vector(of[0].getShape());
  shape[0] = getIndices().size();
  return shaped(shape, getContext(), why);
}

TypeOr RepeatAttr::inferType(Types of, std::string &why) const {
  auto shape = llvm::to_vector(of[0].getShape());
  if (shape.empty() || getCount() <= 0 ||
      __builtin_mul_overflow(shape[0], getCount(), &shape[0]))
    return no(why, "repeats " + Twine(getCount()) + " times a rank " +
                       Twine(of[0].getRank()) + " tensor");
  return shaped(shape, getContext(), why);
}

TypeOr ReshapeAttr::inferType(Types of, std::string &why) const {
  TypeOr to = shaped(getShape().asArrayRef(), getContext(), why);
  if (succeeded(to) && to->getNumElements() != of[0].getNumElements())
    return no(why, "gives " + Twine(of[0].getNumElements()) +
                       " elements a shape of " + Twine(to->getNumElements()));
  return to;
}

TypeOr PermuteAttr::inferType(Types of, std::string &why) const {
  ArrayRef<int64_t> order = getOrder().asArrayRef();
  const int64_t rank = of[0].getRank();
  SmallVector<int64_t> shape;
  for (int64_t dimension : order)
    if (dimension >= 0 && dimension < rank &&
        llvm::count(order, dimension) == 1)
      shape.push_back(of[0].getDimSize(dimension));
  if (int64_t(shape.size()) != rank || shape.size() != order.size())
    return no(why, "has an order that is no permutation of its value's " +
                       Twine(rank) + " dimensions");
  return shaped(shape, getContext(), why);
}

TypeOr StackAttr::inferType(Types of, std::string &why) const {
  if (of.empty() || !llvm::all_equal(of))
    return no(why, "stacks tensors of different shapes");
  auto shape = llvm::to_vector(of[0].getShape());
  shape.insert(shape.begin(), of.size());
  return shaped(shape, getContext(), why);
}

TypeOr ProductAttr::inferType(Types of, std::string &why) const {
  RankedTensorType left = of[0], right = of[1];
  if (left.getRank() != 2 || right.getRank() != 2 ||
      left.getDimSize(1) != right.getDimSize(1))
    return no(why, "multiplies tensors that are not [m, k] and [n, k]");
  return shaped({left.getDimSize(0), right.getDimSize(0)}, getContext(), why);
}

TypeOr ApplyAttr::inferType(Types of, std::string &) const { return of[0]; }

TypeOr NormedAttr::inferType(Types of, std::string &why) const {
  for (RankedTensorType affine : of.drop_front())
    if (of[0].getRank() != 2 || affine.getRank() != 1 ||
        affine.getDimSize(0) != of[0].getDimSize(1))
      return no(why, "norms rows with a weight or bias of another length");
  if (!std::isfinite(getEps()) || getEps() < 0)
    return no(why, "norms rows with an eps of " + formatDouble(getEps()) +
                       ", which is not finite and >= 0");
  return of[0];
}

TypeOr QuantizedAttr::inferType(Types of, std::string &why) const {
  return failed(hasRows(of[0], why)) ? TypeOr(failure()) : of[0];
}

TypeOr RowScalesAttr::inferType(Types of, std::string &why) const {
  if (failed(hasRows(of[0], why)))
    return failure();
  return shaped(of[0].getShape().drop_back(), getContext(), why);
}

TypeOr RowSumsAttr::inferType(Types of, std::string &why) const {
  if (failed(hasRows(of[0], why)))
    return failure();
  auto shape = llvm::to_vector(of[0].getShape());
  shape.back() = 1;
  return shaped(shape, getContext(), why);
}

TypeOr ColumnRmsAttr::inferType(Types of, std::string &why) const {
  if (of[0].getRank() != 2)
    return no(why, "takes the columns of a tensor that has not two dimensions");
  return shaped({1, of[0].getDimSize(1)}, getContext(), why);
}

// Rows of `type` are blocks of `encoding`, which kernels multiply.
static LogicalResult verifyBlocks(RankedTensorType type, Encoding encoding,
                                  std::string &why) {
  if (failed(hasRows(type, why)))
    return failure();
  if (!isMultiplied(encoding))
    return no(why, "is in blocks of " + stringifyEncoding(encoding) +
                       " but must be of " + multipliedNames());
  const int64_t length = blockLength(encoding), inner = type.getShape().back();
  return inner % length == 0
             ? success()
             : no(why, "has rows of " + Twine(inner) +
                           " numbers in blocks of " + Twine(length));
}

TypeOr InBlocksAttr::inferType(Types of, std::string &why) const {
  if (failed(verifyBlocks(of[0], getEncoding(), why)))
    return failure();
  return of[0];
}

TypeOr PackBlocksAttr::inferType(Types of, std::string &why) const {
  if (failed(verifyBlocks(of[0], getEncoding(), why)))
    return failure();
  const int64_t accumulators = getAccumulators(), rank = of[0].getRank();
  if (rank > 3 || (accumulators != 1 && accumulators != 2) ||
      of[0].getDimSize(rank - 2) % accumulators)
    return no(why, "packs a tensor that is not [accumulators * out, in]");
  auto shape =
      BlockPanels{getEncoding(), accumulators}.shapeOf(of[0].getShape());
  return shaped(shape, getContext(), why);
}

TypeOr PackAttr::inferType(Types of, std::string &why) const {
  const int64_t panel = getPanel(), accumulators = getAccumulators(),
                rank = of[0].getRank(), group = getGroup();
  int64_t width;
  if ((rank != 2 && rank != 3) || panel <= 0 || group <= 0 ||
      __builtin_mul_overflow(panel, group, &width) ||
      (accumulators != 1 && accumulators != 2) || panel % accumulators ||
      of[0].getDimSize(rank - 2) % accumulators)
    return no(why, "packs a tensor that is not [accumulators * out, in]");
  auto shape = Panels{panel, accumulators, group}.shapeOf(of[0].getShape());
  return shaped(shape, getContext(), why);
}

FailureOr<RankedTensorType> mille::transformer::valueType(Attribute value,
                                                          ResolveSymbol resolve,
                                                          std::string &why) {
  return TypeOf(resolve, why)(value);
}

void mille::transformer::forEachSymbol(
    Attribute value, llvm::function_ref<void(FlatSymbolRefAttr)> visit) {
  if (auto symbol = llvm::dyn_cast<FlatSymbolRefAttr>(value))
    return visit(symbol);
  if (auto node = llvm::dyn_cast<ParameterValue>(value))
    for (Attribute operand : node.getOperands())
      forEachSymbol(operand, visit);
}

Attribute mille::transformer::replaceSymbols(
    Attribute value, llvm::function_ref<Attribute(FlatSymbolRefAttr)> replace) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](FlatSymbolRefAttr symbol) -> std::optional<Attribute> {
        return replace(symbol);
      });
  return replacer.replace(value);
}
