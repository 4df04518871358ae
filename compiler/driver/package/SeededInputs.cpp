// Random inputs of a package's entry, and the sizes of a run.
// Must not run anything.
#include "compiler/driver/package/SeededInputs.h"

#include "compiler/driver/package/RandomNumbers.h"

using namespace mille;

// Draws numbers within the type and `below`.
static void draw(Value &value, int64_t below, std::mt19937_64 &bits) {
  for (double &number : value.numbers)
    number = value.integer ? double(drawId(bits, below)) : drawNumber(bits);
}

llvm::StringMap<int64_t> mille::sizesOfRun(const Package &package,
                                           int64_t batch, int64_t tokens,
                                           int64_t others) {
  llvm::StringMap<int64_t> numbers;
  for (const Package::Size &size : package.sizes)
    numbers[size.name] = size.name == sizes::batch    ? batch
                         : size.name == sizes::tokens ? tokens
                         : size.own                   ? size.own
                                                      : others;
  return numbers;
}

llvm::StringMap<int64_t> mille::sizesWithin(const Package &package,
                                            int64_t batch, int64_t tokens,
                                            int64_t others) {
  llvm::StringMap<int64_t> numbers = sizesOfRun(package, batch, tokens, others);
  for (const Package::Size &size : package.sizes)
    if (size.most)
      numbers[size.name] = std::min(numbers[size.name], size.most);
  return numbers;
}

Values mille::seededInputs(const Package::Entry &entry,
                           const llvm::StringMap<int64_t> &sizes,
                           bool withMask) {
  std::mt19937_64 bits(1);
  Values values;
  for (const Package::Tensor &tensor : entry.inputs) {
    bool isMask = tensor.fallback == "ones";
    if (isMask ? !withMask : !tensor.fallback.empty())
      continue;
    Value value;
    value.integer = tensor.type == "i32";
    size_t size = 1;
    for (const ShapeExtent &extent : tensor.shape) {
      value.shape.push_back(extent.isSize() ? sizes.lookup(extent.size)
                                            : extent.count);
      size *= value.shape.back();
    }
    value.numbers.assign(size, 1.0);
    if (!isMask)
      draw(value, tensor.below, bits);
    else if (sizes.lookup(mille::sizes::batch) >
             1) // the last sequence is shorter
      std::fill(value.numbers.end() - value.shape.back() / 3,
                value.numbers.end(), 0.0);
    values[tensor.name] = std::move(value);
  }
  return values;
}
