// Compares tensors number by number; a NaN equals only a NaN.
// Must not decide anything: callers have the bounds.
#include "compiler/interpret/Compare.h"
#include "mlir/IR/Diagnostics.h"

#include <cmath>
#include <limits>

using namespace mille;

namespace {

// Whether number `flat` of a tensor counts under the mask.
struct Counts {
  const Value *mask = nullptr;
  int64_t inner = 1;   // numbers per [batch, tokens] position
  bool ifZero = false; // [batch, n] is [batch, tokens] only by its zeros
  bool operator()(int64_t flat, double expected) const {
    return !mask || (ifZero && expected != 0) ||
           mask->numbers[flat / inner % int64_t(mask->numbers.size())] != 0;
  }
};

Counts countsOf(const Value *mask, const Value &tensor) {
  if (!mask || mask->shape.size() != 2)
    return {};
  if (mask->shape == tensor.shape)
    return {mask, 1, true};
  for (size_t skip : {size_t(0), size_t(1)}) {
    if (tensor.shape.size() != skip + 3 ||
        !std::equal(mask->shape.begin(), mask->shape.end(),
                    tensor.shape.begin() + skip))
      continue;
    return {mask, tensor.shape.back()};
  }
  return {};
}

double errorOf(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected)))
    return 0;
  double error = std::fabs(got - expected);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

Difference differenceOf(const std::string &name, const Value &got,
                        const Value &expected, const Value *mask) {
  Difference found;
  found.name = name;
  Counts counts = countsOf(mask, expected);
  double dot = 0, gotSquare = 0, expectedSquare = 0;
  int64_t worst = 0;
  for (int64_t i = 0, n = expected.numbers.size(); i < n; ++i) {
    if (!counts(i, expected.numbers[i]))
      continue;
    double a = got.numbers[i], b = expected.numbers[i];
    double error = errorOf(a, b);
    if (found.compared++ == 0 || error > found.maxError) {
      found.maxError = error;
      worst = i;
    }
    if (std::isfinite(b))
      found.maxExpected = std::max(found.maxExpected, std::fabs(b));
    dot += a * b;
    gotSquare += a * a;
    expectedSquare += b * b;
  }
  if (found.compared) {
    found.got = got.numbers[worst];
    found.expected = expected.numbers[worst];
  }
  if (found.maxError > 0)
    found.relative = found.maxError / found.maxExpected;
  if (gotSquare == 0 || expectedSquare == 0)
    found.cosine = gotSquare == expectedSquare ? 1 : 0;
  else
    found.cosine = dot / std::sqrt(gotSquare) / std::sqrt(expectedSquare);
  found.where.resize(expected.shape.size());
  for (size_t d = expected.shape.size(); d-- > 0;) {
    found.where[d] = expected.shape[d] ? worst % expected.shape[d] : 0;
    worst /= std::max<int64_t>(expected.shape[d], 1);
  }
  return found;
}

std::string text(const std::vector<int64_t> &shape) {
  std::string words = "[";
  for (int64_t extent : shape)
    words += (words.size() > 1 ? ", " : "") + std::to_string(extent);
  return words + "]";
}

// The mask for the tokens of an output; null if the inputs have none.
const Value *maskOf(llvm::StringRef output, const Values &inputs) {
  bool decoded =
      inputs.count("decoder_input_ids") && !output.starts_with("encoder_");
  auto mask =
      inputs.find(decoded ? "decoder_attention_mask" : "attention_mask");
  return mask == inputs.end() ? nullptr : &mask->second;
}

} // namespace

Status mille::compare(const Values &got, const Values &expected,
                      const Values &inputs, mlir::Location location,
                      std::vector<Difference> &differences) {
  if (expected.empty()) {
    mlir::emitError(location) << "there is no tensor to compare with";
    return Status::input;
  }
  for (auto &[name, wanted] : expected) {
    auto found = got.find(name);
    if (found == got.end()) {
      mlir::emitError(location)
          << "output " << name
          << " is expected but the run has none of that name";
      return Status::input;
    }
    if (found->second.shape != wanted.shape) {
      mlir::emitError(location)
          << "output " << name << " is " << text(found->second.shape)
          << " but the expected one is " << text(wanted.shape);
      return Status::input;
    }
    differences.push_back(
        differenceOf(name, found->second, wanted, maskOf(name, inputs)));
    if (differences.back().compared == 0) {
      mlir::emitError(location) << "no number of output " << name
                                << " is compared: the mask hides them all";
      return Status::input;
    }
  }
  return Status::done;
}

void mille::splitEntries(Values &values) {
  Values split;
  for (auto &[name, all] : values) {
    if (all.shape.size() != 4) {
      split[name] = std::move(all);
      continue;
    }
    int64_t entries = all.shape[0];
    for (int64_t i = 0,
                 size = all.numbers.size() / std::max<int64_t>(entries, 1);
         i < entries; ++i) {
      Value &entry = split[name + "." + std::to_string(i)];
      entry.shape.assign(all.shape.begin() + 1, all.shape.end());
      entry.integer = all.integer;
      entry.numbers.assign(all.numbers.begin() + i * size,
                           all.numbers.begin() + (i + 1) * size);
    }
  }
  values = std::move(split);
}

void mille::joinEntries(Values &values) {
  Values joined;
  for (auto &[name, first] : values) {
    auto [stem, number] = llvm::StringRef(name).rsplit('.');
    if (number != "0") // joined with the first, or no entry
      continue;
    Value &all = joined[stem.str()];
    all.integer = first.integer;
    int64_t count = 0;
    for (auto entry = values.find(name);
         entry != values.end() && entry->second.shape == first.shape;
         entry = values.find((stem + "." + llvm::Twine(count)).str())) {
      all.numbers.insert(all.numbers.end(), entry->second.numbers.begin(),
                         entry->second.numbers.end());
      ++count;
    }
    all.shape = first.shape;
    all.shape.insert(all.shape.begin(), count);
  }
  values = std::move(joined);
}
