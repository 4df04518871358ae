// What parameter value expressions mean for types and symbols. Their numbers
// are computed in compiler/weights.
#include "dialects/transformer/Encoding.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

namespace {

RankedTensorType f32Tensor(ArrayRef<int64_t> shape, MLIRContext *context) {
  return RankedTensorType::get(shape, Float32Type::get(context));
}

// The operands of an expression, themselves values.
SmallVector<Attribute> operandsOf(Attribute value) {
  return llvm::TypeSwitch<Attribute, SmallVector<Attribute>>(value)
      .Case([](SliceAttr a) { return SmallVector<Attribute>{a.getValue()}; })
      .Case(
          [](TransposeAttr a) { return SmallVector<Attribute>{a.getValue()}; })
      .Case([](ConcatAttr a) { return llvm::to_vector(a.getValues()); })
      .Case([](TimesAttr a) {
        return SmallVector<Attribute>{a.getValue(), a.getFactor()};
      })
      .Case([](PlusAttr a) {
        return SmallVector<Attribute>{a.getValue(), a.getTerm()};
      })
      .Case<PackAttr, GatherAttr, RepeatAttr, ReshapeAttr, PermuteAttr,
            ApplyAttr, RowScalesAttr, QuantizedAttr, RowSumsAttr, ColumnRmsAttr,
            InBlocksAttr, PackBlocksAttr>(
          [](auto a) { return SmallVector<Attribute>{a.getValue()}; })
      .Case([](StackAttr a) { return llvm::to_vector(a.getValues()); })
      .Case([](ProductAttr a) {
        return SmallVector<Attribute>{a.getLeft(), a.getRight()};
      })
      .Case([](NormedAttr a) {
        return SmallVector<Attribute>{a.getValue(), a.getWeight(), a.getBias()};
      })
      .Default([](Attribute) { return SmallVector<Attribute>{}; });
}

class TypeOf {
public:
  TypeOf(ResolveSymbol resolve, std::string &why)
      : resolve(resolve), why(why) {}

  FailureOr<RankedTensorType> operator()(Attribute value) {
    if (++depth > 64)
      return no("nests more than 64 deep");
    auto type =
        llvm::TypeSwitch<Attribute, FailureOr<RankedTensorType>>(value)
            .Case([&](FlatSymbolRefAttr a) { return symbol(a); })
            .Case([&](FloatAttr a) { return shaped({1}, a); })
            .Case([&](TypeAttr a) { return declared(a); })
            .Case(
                [&](StoredAttr a) { return shaped(a.getType().getShape(), a); })
            .Case(
                [&](DrawnAttr a) { return shaped(a.getType().getShape(), a); })
            .Case([&](SliceAttr a) { return slice(a); })
            .Case([&](TransposeAttr a) { return transpose(a); })
            .Case([&](ConcatAttr a) { return concat(a); })
            .Case([&](TimesAttr a) { return times(a); })
            .Case([&](PlusAttr a) { return plus(a); })
            .Case([&](PackAttr a) { return pack(a); })
            .Case([&](NumbersAttr a) {
              return shaped(a.getType().getShape(), a);
            })
            .Case([&](SinusoidAttr a) { return sinusoid(a); })
            .Case([&](GatherAttr a) { return gather(a); })
            .Case([&](RepeatAttr a) { return repeat(a); })
            .Case([&](ReshapeAttr a) { return reshape(a); })
            .Case([&](PermuteAttr a) { return permute(a); })
            .Case([&](StackAttr a) { return stack(a); })
            .Case([&](ProductAttr a) { return product(a); })
            .Case([&](ApplyAttr a) { return (*this)(a.getValue()); })
            .Case([&](NormedAttr a) { return normed(a); })
            .Case([&](QuantizedAttr a) { return rowWise(a.getValue()); })
            .Case([&](InBlocksAttr a) { return inBlocks(a); })
            .Case([&](PackBlocksAttr a) { return packBlocks(a); })
            .Case([&](RowScalesAttr a) { return perRow(a.getValue(), false); })
            .Case([&](RowSumsAttr a) { return perRow(a.getValue(), true); })
            .Case([&](ColumnRmsAttr a) { return perColumn(a.getValue()); })
            .Default(
                [&](Attribute) { return no("is not a parameter's value"); });
    --depth;
    return type;
  }

private:
  FailureOr<RankedTensorType> no(const Twine &reason) {
    if (why.empty())
      why = reason.str();
    return failure();
  }
  // Every shape comes through here: static, > 0, and no product overflows.
  FailureOr<RankedTensorType> shaped(ArrayRef<int64_t> shape, Attribute at) {
    int64_t elements = sizeof(float);
    for (int64_t extent : shape)
      if (extent <= 0)
        return no("has an extent that is not a number > 0");
      else if (__builtin_mul_overflow(elements, extent, &elements))
        return no("has more elements than any memory");
    return f32Tensor(shape, at.getContext());
  }
  FailureOr<RankedTensorType> declared(TypeAttr a) {
    auto type = dyn_cast<RankedTensorType>(a.getValue());
    if (!type)
      return no("is not a parameter's value");
    return shaped(type.getShape(), a);
  }
  FailureOr<RankedTensorType> symbol(FlatSymbolRefAttr name) {
    Attribute value = resolve(name);
    if (!value)
      return no("names @" + name.getValue() + ", which is not a parameter");
    return (*this)(value);
  }
  FailureOr<RankedTensorType> slice(SliceAttr a) {
    auto type = (*this)(a.getValue());
    if (failed(type))
      return type;
    int64_t axis = a.getAxis(), size = a.getSize(), stride = a.getStride();
    if (axis < 0 || axis >= type->getRank())
      return no("slices axis " + Twine(axis) + " of a rank " +
                Twine(type->getRank()) + " tensor");
    int64_t extent = type->getDimSize(axis);
    if (a.getOffset() < 0 || size <= 0 || stride <= 0 ||
        a.getOffset() >= extent ||
        (extent - 1 - a.getOffset()) / stride < size - 1)
      return no("slices " + Twine(size) + " elements from " +
                Twine(a.getOffset()) + " of an extent of " + Twine(extent));
    auto shape = llvm::to_vector(type->getShape());
    shape[axis] = size;
    return shaped(shape, a);
  }
  FailureOr<RankedTensorType> transpose(TransposeAttr a) {
    auto type = (*this)(a.getValue());
    if (failed(type))
      return type;
    if (type->getRank() != 2)
      return no("transposes a rank " + Twine(type->getRank()) + " tensor");
    return shaped({type->getDimSize(1), type->getDimSize(0)}, a);
  }
  FailureOr<RankedTensorType> concat(ConcatAttr a) {
    SmallVector<int64_t> shape;
    for (Attribute part : a.getValues()) {
      auto type = (*this)(part);
      if (failed(type))
        return type;
      if (shape.empty()) {
        shape = llvm::to_vector(type->getShape());
        if (shape.empty())
          return no("joins scalars");
        continue;
      }
      if (type->getRank() != int64_t(shape.size()) ||
          ArrayRef<int64_t>(shape).drop_front() !=
              type->getShape().drop_front())
        return no("joins tensors of different shapes");
      if (__builtin_add_overflow(shape[0], type->getDimSize(0), &shape[0]))
        return no("has more elements than any memory");
    }
    if (shape.empty())
      return no("joins scalars");
    return shaped(shape, a);
  }
  FailureOr<RankedTensorType> times(TimesAttr a) {
    auto type = (*this)(a.getValue());
    if (failed(type))
      return type;
    auto factor = (*this)(a.getFactor());
    if (failed(factor))
      return factor;
    bool one = factor->getNumElements() == 1;
    bool rows = factor->getRank() == 1 && type->getRank() > 0 &&
                factor->getDimSize(0) == type->getDimSize(0);
    bool columns = factor->getRank() == 2 && type->getRank() == 2 &&
                   factor->getDimSize(0) == 1 &&
                   factor->getDimSize(1) == type->getDimSize(1);
    if (!one && !rows && !columns)
      return no(
          "multiplies by a tensor that has neither one element nor one per "
          "row or column");
    return type;
  }
  FailureOr<RankedTensorType> plus(PlusAttr a) {
    auto type = (*this)(a.getValue());
    if (failed(type))
      return type;
    auto term = (*this)(a.getTerm());
    if (failed(term))
      return term;
    bool toRows = type->getRank() == 2 && term->getRank() == 1 &&
                  term->getDimSize(0) == type->getDimSize(1);
    if (term->getNumElements() != 1 && !toRows &&
        term->getShape() != type->getShape())
      return no("adds tensors of different shapes");
    return type;
  }
  FailureOr<RankedTensorType> sinusoid(SinusoidAttr a) {
    auto type = shaped(a.getType().getShape(), a);
    if (failed(type))
      return type;
    if (type->getRank() != 2 || type->getDimSize(1) % 2)
      return no(
          "has sines and cosines in a tensor that is not [positions, 2n]");
    if (!(a.getDivisor() > 0) || !std::isfinite(a.getDivisor()))
      return no("has a sinusoid's divisor of " + formatDouble(a.getDivisor()) +
                ", which is not finite and > 0");
    if (a.getZero() < -1 || a.getZero() >= type->getDimSize(0))
      return no("has zeros in row " + Twine(a.getZero()) + " of " +
                Twine(type->getDimSize(0)));
    return type;
  }
  FailureOr<RankedTensorType> gather(GatherAttr a) {
    auto type = (*this)(a.getValue());
    if (failed(type))
      return type;
    if (type->getRank() < 1)
      return no("gathers from a scalar");
    for (int64_t row : a.getIndices().asArrayRef())
      if (row < -1 || row >= type->getDimSize(0))
        return no("gathers row " + Twine(row) + " of " +
                  Twine(type->getDimSize(0)));
    auto shape = llvm::to_vector(type->getShape());
    shape[0] = a.getIndices().size();
    return shaped(shape, a);
  }
  FailureOr<RankedTensorType> repeat(RepeatAttr a) {
    auto type = (*this)(a.getValue());
    if (failed(type))
      return type;
    auto shape = llvm::to_vector(type->getShape());
    if (shape.empty() || a.getCount() <= 0 ||
        __builtin_mul_overflow(shape[0], a.getCount(), &shape[0]))
      return no("repeats " + Twine(a.getCount()) + " times a rank " +
                Twine(type->getRank()) + " tensor");
    return shaped(shape, a);
  }
  FailureOr<RankedTensorType> reshape(ReshapeAttr a) {
    auto type = (*this)(a.getValue());
    if (failed(type))
      return type;
    auto to = shaped(a.getShape().asArrayRef(), a);
    if (succeeded(to) && to->getNumElements() != type->getNumElements())
      return no("gives " + Twine(type->getNumElements()) +
                " elements a shape of " + Twine(to->getNumElements()));
    return to;
  }
  FailureOr<RankedTensorType> permute(PermuteAttr a) {
    auto type = (*this)(a.getValue());
    if (failed(type))
      return type;
    ArrayRef<int64_t> order = a.getOrder().asArrayRef();
    SmallVector<int64_t> shape;
    for (int64_t dimension : order)
      if (dimension >= 0 && dimension < type->getRank() &&
          llvm::count(order, dimension) == 1)
        shape.push_back(type->getDimSize(dimension));
    if (int64_t(shape.size()) != type->getRank() ||
        shape.size() != order.size())
      return no("has an order that is no permutation of its value's " +
                Twine(type->getRank()) + " dimensions");
    return shaped(shape, a);
  }
  FailureOr<RankedTensorType> stack(StackAttr a) {
    RankedTensorType first;
    bool alike = !a.getValues().empty(); // the syntax has one at least
    for (Attribute part : a.getValues()) {
      auto type = (*this)(part);
      if (failed(type))
        return type;
      alike &= !first || first == *type;
      first = *type;
    }
    if (!alike)
      return no("stacks tensors of different shapes");
    auto shape = llvm::to_vector(first.getShape());
    shape.insert(shape.begin(), a.getValues().size());
    return shaped(shape, a);
  }
  FailureOr<RankedTensorType> product(ProductAttr a) {
    auto left = (*this)(a.getLeft());
    if (failed(left))
      return left;
    auto right = (*this)(a.getRight());
    if (failed(right))
      return right;
    if (left->getRank() != 2 || right->getRank() != 2 ||
        left->getDimSize(1) != right->getDimSize(1))
      return no("multiplies tensors that are not [m, k] and [n, k]");
    return shaped({left->getDimSize(0), right->getDimSize(0)}, a);
  }
  FailureOr<RankedTensorType> normed(NormedAttr a) {
    auto type = (*this)(a.getValue());
    if (failed(type))
      return type;
    for (Attribute part : {a.getWeight(), a.getBias()}) {
      auto affine = (*this)(part);
      if (failed(affine))
        return affine;
      if (type->getRank() != 2 || affine->getRank() != 1 ||
          affine->getDimSize(0) != type->getDimSize(1))
        return no("norms rows with a weight or bias of another length");
    }
    double eps = a.getEps().getValueAsDouble();
    if (!std::isfinite(eps) || eps < 0)
      return no("norms rows with an eps of " + formatDouble(eps) +
                ", which is not finite and >= 0");
    return type;
  }
  FailureOr<RankedTensorType> rowWise(Attribute value) {
    auto type = (*this)(value);
    if (succeeded(type) && type->getRank() < 2)
      return no(
          "takes the rows of a tensor that has fewer than two dimensions");
    return type;
  }
  // A number per row, as a column or without the last dimension.
  FailureOr<RankedTensorType> perRow(Attribute value, bool column) {
    auto type = rowWise(value);
    if (failed(type))
      return type;
    SmallVector<int64_t> shape(type->getShape().drop_back());
    if (column)
      shape.push_back(1);
    return shaped(shape, value);
  }
  FailureOr<RankedTensorType> perColumn(Attribute value) {
    auto type = (*this)(value);
    if (succeeded(type) && type->getRank() != 2)
      return no("takes the columns of a tensor that has not two dimensions");
    return failed(type) ? type : shaped({1, type->getDimSize(1)}, value);
  }
  template <typename Attr> FailureOr<RankedTensorType> inBlocks(Attr a) {
    auto type = rowWise(a.getValue());
    if (failed(type))
      return type;
    if (!isMultiplied(a.getEncoding()))
      return no("is in blocks of " + stringifyEncoding(a.getEncoding()) +
                " but must be of q8_0, q5_0 or q4_0");
    int64_t length = blockLength(a.getEncoding()),
            inner = type->getShape().back();
    if (inner % length)
      return no("has rows of " + Twine(inner) + " numbers in blocks of " +
                Twine(length));
    return type;
  }
  FailureOr<RankedTensorType> packBlocks(PackBlocksAttr a) {
    auto type = inBlocks(a);
    if (failed(type))
      return type;
    const int64_t accumulators = a.getAccumulators(), rank = type->getRank();
    if (rank > 3 || (accumulators != 1 && accumulators != 2) ||
        type->getDimSize(rank - 2) % accumulators)
      return no("packs a tensor that is not [accumulators * out, in]");
    SmallVector<int64_t> shape(type->getShape().drop_back(2));
    shape.append(
        {int64_t(llvm::divideCeil(type->getDimSize(rank - 2) / accumulators,
                                  rowsOfBlockPanel)),
         type->getDimSize(rank - 1) / blockLength(a.getEncoding()),
         accumulators * rowsOfBlockPanel * blockBytes(a.getEncoding())});
    return shaped(shape, a);
  }
  FailureOr<RankedTensorType> pack(PackAttr a) {
    auto type = (*this)(a.getValue());
    if (failed(type))
      return type;
    int64_t panel = a.getPanel(), accumulators = a.getAccumulators();
    int64_t rank = type->getRank(), group = a.getGroup(), width;
    if ((rank != 2 && rank != 3) || panel <= 0 || group <= 0 ||
        __builtin_mul_overflow(panel, group, &width) ||
        (accumulators != 1 && accumulators != 2) || panel % accumulators ||
        type->getDimSize(rank - 2) % accumulators)
      return no("packs a tensor that is not [accumulators * out, in]");
    int64_t columns = type->getDimSize(rank - 2) / accumulators;
    int64_t perPanel = panel / accumulators;
    SmallVector<int64_t> shape{
        int64_t(llvm::divideCeil(columns, perPanel)),
        int64_t(llvm::divideCeil(type->getDimSize(rank - 1), group)), width};
    if (rank == 3)
      shape.insert(shape.begin(), type->getDimSize(0));
    return shaped(shape, a);
  }

  ResolveSymbol resolve;
  std::string &why;
  int depth = 0;
};

} // namespace

FailureOr<RankedTensorType> mille::transformer::valueType(Attribute value,
                                                          ResolveSymbol resolve,
                                                          std::string &why) {
  return TypeOf(resolve, why)(value);
}

void mille::transformer::forEachSymbol(
    Attribute value, llvm::function_ref<void(FlatSymbolRefAttr)> visit) {
  if (auto symbol = llvm::dyn_cast<FlatSymbolRefAttr>(value))
    return visit(symbol);
  for (Attribute operand : operandsOf(value))
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
