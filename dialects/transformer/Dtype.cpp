// The types in which matmuls can read a weight. Must not choose one.
#include "dialects/transformer/Dtype.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace mille;
using llvm::StringRef;

namespace {

struct Named {
  std::vector<StringRef> names;
  std::vector<Dtype> dtypes;

  Named() {
    add("f32", {Dtype::f32});
    add("f16", {Dtype::f16});
    add("bf16", {Dtype::bf16});
    add("int8", {Dtype::int8});
    for (Encoding encoding : multipliedEncodings()) {
      // Of 5 bits that have a step of their own 32 numbers are less exact.
      if (encoding == Encoding::q5_k)
        add("fp8", {Dtype::fp8});
      add(transformer::stringifyEncoding(encoding), {Dtype::blocks, encoding});
    }
    add("stored", {Dtype::stored});
  }
  void add(StringRef name, Dtype dtype) {
    names.push_back(name);
    dtypes.push_back(dtype);
  }
};

const Named &named() {
  static const Named list;
  return list;
}

} // namespace

llvm::ArrayRef<StringRef> mille::dtypeNames() { return named().names; }

std::optional<Dtype> mille::dtypeNamed(StringRef name) {
  const auto at = llvm::find(named().names, name);
  if (at == named().names.end())
    return std::nullopt;
  return named().dtypes[at - named().names.begin()];
}

StringRef mille::nameOf(Dtype dtype) {
  return named()
      .names[llvm::find(named().dtypes, dtype) - named().dtypes.begin()];
}

bool mille::isMoreExact(Dtype one, Dtype other) {
  return llvm::find(named().dtypes, one) < llvm::find(named().dtypes, other);
}

std::optional<DtypeChoice> DtypeChoice::parse(StringRef text,
                                              std::string &why) {
  DtypeChoice choice;
  llvm::SmallVector<StringRef> words;
  text.split(words, ',');
  for (StringRef word : words) {
    const bool isUsual = word.data() == text.data();
    StringRef names, name = word;
    if (!isUsual)
      std::tie(names, name) = word.split('=');
    std::optional<Dtype> dtype = dtypeNamed(name);
    llvm::Expected<llvm::GlobPattern> pattern =
        llvm::GlobPattern::create(names);
    const bool isPattern = bool(pattern);
    llvm::consumeError(pattern.takeError());
    if (!dtype || !isPattern || (!isUsual && names.empty())) {
      why = (isUsual ? "" : "TYPE,WEIGHTS=TYPE,..., each TYPE ") +
            ("one of " + llvm::join(dtypeNames(), ", "));
      return std::nullopt;
    }
    if (isUsual)
      choice.usual = *dtype;
    else
      choice.weights.push_back({names.str(), *dtype});
  }
  const bool isF16 = choice.usual.kind == Dtype::f16;
  for (const Weights &some : choice.weights)
    if (some.dtype.kind != Dtype::f32 &&
        (isF16 || some.dtype.kind == Dtype::f16)) {
      why = "f16 for all weights but those of f32, or have no f16";
      return std::nullopt;
    }
  return choice;
}

std::string DtypeChoice::text() const {
  std::string text = nameOf(usual).str();
  for (const Weights &some : weights)
    text += "," + some.names + "=" + nameOf(some.dtype).str();
  return text;
}

std::vector<Dtype> DtypeChoice::all() const {
  std::vector<Dtype> types{usual};
  for (const Weights &some : weights)
    types.push_back(some.dtype);
  return types;
}

bool DtypeChoice::isOfBlocks() const {
  return llvm::any_of(all(), [](Dtype dtype) { return dtype.isOfBlocks(); });
}
