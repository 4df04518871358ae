// Follows slices, transpositions, stacks and changes of shape.
#include "compiler/import/export/Places.h"

#include <numeric>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::ArrayRef;
using mlir::Attribute;

static int64_t product(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

static Places slice(const Places &of, SliceAttr how) {
  const ArrayRef<int64_t> shape = of.shape;
  const int64_t axis = how.getAxis(), outer = product(shape.take_front(axis)),
                inner = product(shape.drop_front(axis + 1));
  Places part{of.shape, {}};
  part.shape[axis] = how.getSize();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < how.getSize(); ++i) {
      const int64_t entry = how.getOffset() + i * how.getStride();
      auto from = of.at.begin() + (o * shape[axis] + entry) * inner;
      part.at.insert(part.at.end(), from, from + inner);
    }
  return part;
}

static Places permute(const Places &of, ArrayRef<int64_t> order) {
  const size_t rank = order.size();
  llvm::SmallVector<int64_t> strides(rank), index(rank);
  int64_t stride = 1;
  for (size_t axis = rank; axis-- > 0; stride *= of.shape[axis])
    strides[axis] = stride;
  Places turned;
  for (int64_t axis : order)
    turned.shape.push_back(of.shape[axis]);
  turned.at.reserve(of.at.size());
  for (size_t count = of.at.size(); count > 0; --count) {
    int64_t from = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      from += index[axis] * strides[order[axis]];
    turned.at.push_back(of.at[from]);
    for (size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < turned.shape[axis])
        break;
      index[axis] = 0;
    }
  }
  return turned;
}

// Side by side along the first dimension.
static Places joined(ArrayRef<Places> parts) {
  Places whole{parts.front().shape, {}};
  whole.shape[0] = 0;
  for (const Places &part : parts) {
    whole.shape[0] += part.shape[0];
    whole.at.insert(whole.at.end(), part.at.begin(), part.at.end());
  }
  return whole;
}

std::optional<Places>
mille::import::placesOf(Attribute value,
                        llvm::function_ref<int64_t(StoredAttr)> begin,
                        ResolveSymbol resolve) {
  if (auto symbol = llvm::dyn_cast<mlir::FlatSymbolRefAttr>(value))
    return placesOf(resolve(symbol), begin, resolve);
  if (auto stored = llvm::dyn_cast<StoredAttr>(value)) {
    Places places;
    places.shape.append(stored.getType().getShape().begin(),
                        stored.getType().getShape().end());
    places.at.resize(product(places.shape));
    std::iota(places.at.begin(), places.at.end(), begin(stored));
    return places;
  }
  if (auto zeros = llvm::dyn_cast_if_present<DrawnAttr>(value);
      zeros && zeros.getDistribution() == Distribution::fixed &&
      zeros.getMean().value == 0) {
    Places none;
    none.shape.append(zeros.getType().getShape().begin(),
                      zeros.getType().getShape().end());
    none.at.assign(product(none.shape), -1);
    return none;
  }
  auto node = llvm::dyn_cast_if_present<ParameterValue>(value);
  if (!node)
    return std::nullopt;
  llvm::SmallVector<Places> of;
  for (Attribute operand : node.getOperands()) {
    std::optional<Places> places = placesOf(operand, begin, resolve);
    if (!places)
      return std::nullopt;
    of.push_back(std::move(*places));
  }
  if (auto how = llvm::dyn_cast<SliceAttr>(value))
    return slice(of[0], how);
  if (llvm::isa<TransposeAttr>(value))
    return permute(of[0], {1, 0});
  if (auto how = llvm::dyn_cast<PermuteAttr>(value))
    return permute(of[0], how.getOrder().asArrayRef());
  if (auto how = llvm::dyn_cast<ReshapeAttr>(value)) {
    of[0].shape.assign(how.getShape().asArrayRef().begin(),
                       how.getShape().asArrayRef().end());
    return std::move(of[0]);
  }
  if (llvm::isa<ConcatAttr>(value))
    return joined(of);
  if (!llvm::isa<StackAttr>(value))
    return std::nullopt;
  for (Places &places : of)
    places.shape.insert(places.shape.begin(), 1);
  return joined(of);
}
