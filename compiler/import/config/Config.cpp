// The readers that families share: activations, sizes of heads, the two usual
// pairs of units. Must not name a family.
#include "compiler/import/config/Config.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

Config::Config(const json::Document &document, Problems &problems,
               mlir::MLIRContext &context, StoredTensors *tensors)
    : Fields(document, document.root, "the config", problems, context),
      problems(problems), context(context), tensors(tensors) {}

static const json::Value &objectOf(Config &outer, StringRef key) {
  static const json::Value empty = [] {
    json::Value value;
    value.kind = json::Kind::object;
    return value;
  }();
  const json::Value *value = outer.object(key);
  return value ? *value : empty;
}

Config::Config(Config &outer, StringRef key)
    : Fields(outer.file(), objectOf(outer, key), key, outer.problems,
             outer.context),
      imageSize(outer.imageSize), imageSizeAtHand(outer.imageSizeAtHand),
      anyImageSize(outer.anyImageSize), mostImageSize(outer.mostImageSize),
      problems(outer.problems), context(outer.context), tensors(outer.tensors) {
}

bool Config::holds(StringRef name, StringRef otherwise) {
  return !tensors || tensors->find(name) || tensors->find(otherwise);
}

static constexpr std::pair<StringRef, Activation> activations[] = {
    {"gelu", Activation::gelu_erf},
    {"gelu_python", Activation::gelu_erf},
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_accurate", Activation::gelu_tanh},
    {"gelu_python_tanh", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh},
    {"quick_gelu", Activation::quick_gelu},
    {"relu", Activation::relu},
    {"relu2", Activation::relu2},
    {"silu", Activation::silu},
    {"swish", Activation::silu},
    {"tanh", Activation::tanh},
    {"sigmoid", Activation::sigmoid},
    {"linear", Activation::identity}};

std::optional<Activation> Config::activationNamed(StringRef name) {
  for (auto &[known, activation] : activations)
    if (known == name)
      return activation;
  return std::nullopt;
}

StringRef Config::wordOf(Activation activation) {
  for (auto &[name, known] : activations)
    if (known == activation)
      return name;
  return "";
}

bool Config::filesHold(StringRef name, StringRef otherwise) {
  return tensors && holds(name, otherwise);
}

Activation Config::activation(StringRef key, StringRef absent) {
  std::vector<StringRef> words;
  size_t usual = 0;
  for (auto &[name, _] : activations) {
    if (name == absent)
      usual = words.size();
    words.push_back(name);
  }
  return activations[word(key, words, usual)].second;
}

Extent Config::dividedHead(const Extent &hidden, const Extent &heads) {
  if (hidden.value % heads.value)
    problems
        .error(heads.at, heads.key + " is " + Twine(heads.value) +
                             " but must divide " + hidden.key + ", which is " +
                             Twine(hidden.value))
        .note(hidden.at, hidden.key + " is given here");
  Extent size = heads;
  size.key = hidden.key + " / " + heads.key;
  size.value = std::max<int64_t>(1, hidden.value / heads.value);
  return size;
}

StringRef Config::either(StringRef key, StringRef other) {
  bool first = has(key);
  return !first && has(other) ? other : key;
}

std::vector<int64_t> Config::integers(StringRef key) {
  std::vector<int64_t> numbers;
  const json::Value *items = list(key);
  if (!items)
    return numbers;
  for (const json::Value &item : items->items) {
    bool boolean = item.kind == json::Kind::boolean;
    if (!boolean && !item.whole)
      problems.error(at(item), "an entry of " + key + " is " + item.describe() +
                                   " but must be a whole number");
    numbers.push_back(boolean ? item.boolean : item.integer);
  }
  return numbers;
}

std::vector<std::string>
Config::layerTypes(const Extent &layers, llvm::ArrayRef<StringRef> known,
                   llvm::function_ref<StringRef(int64_t)> usual) {
  std::vector<std::string> words;
  const json::Value *types = list("layer_types");
  if (!types) {
    for (int64_t layer = 0; layer < layers.value; ++layer)
      words.push_back(usual(layer).str());
    return words;
  }
  if (int64_t(types->items.size()) != layers.value)
    error("layer_types", "layer_types has " + Twine(types->items.size()) +
                             " entries but " + layers.key + " is " +
                             Twine(layers.value))
        .note(layers.at, layers.key + " is given here");
  std::string choice;
  for (StringRef word : known)
    choice += (choice.empty() ? "\"" : " or \"") + word.str() + "\"";
  for (const json::Value &item : types->items) {
    if (!llvm::is_contained(known, item.text))
      problems.error(at(item), "an entry of layer_types is " + item.describe() +
                                   " but must be " + choice);
    words.push_back(item.text);
  }
  words.resize(layers.value, known.front().str());
  return words;
}

std::vector<std::string> Config::words(StringRef key) {
  std::vector<std::string> words;
  const json::Value *value = take(key);
  if (!value)
    return words;
  if (value->kind == json::Kind::array) {
    for (const json::Value &item : value->items)
      words.push_back(item.text);
    return words;
  }
  const std::string joined = text(key, "");
  llvm::SmallVector<StringRef> parts;
  StringRef(joined).split(parts, '|', -1, false);
  for (StringRef part : parts)
    words.push_back(part.trim().lower());
  return words;
}

Extent mille::import::readLabels(Config &config) {
  Extent labels = config.extent("num_labels", 2);
  const json::Value *names = config.object("id2label");
  if (!names)
    return labels;
  labels = {int64_t(names->members.size()), "id2label", config.at("id2label")};
  if (!labels.value) {
    config.error("id2label", "id2label is {} but a classifier has a class or "
                             "more");
    labels.value = 1;
  }
  return labels;
}

static Unit unitOf(StringRef name, const Norm &norm, bool before) {
  Unit unit;
  unit.name = name.str();
  (before ? unit.inNorm : unit.outNorm).all = {norm};
  return unit;
}

static std::vector<Unit> twoUnits(const PerLayer<Attention> &attention,
                                  const PerLayer<FeedForward> &feedForward,
                                  const Norm &norm, bool before) {
  Unit attn = unitOf("attn", norm, before), ffn = unitOf("ffn", norm, before);
  attn.at = attention.at(0)->heads.at;
  ffn.at = feedForward.at(0)->size.at;
  attn.branches = {Branch{"attn", attention, {}, attn.at}};
  ffn.branches = {Branch{"ffn", {}, feedForward, ffn.at}};
  return {attn, ffn};
}

std::vector<Unit>
mille::import::preNormUnits(const PerLayer<Attention> &attention,
                            const PerLayer<FeedForward> &feedForward,
                            const Norm &norm) {
  return twoUnits(attention, feedForward, norm, true);
}

std::vector<Unit>
mille::import::postNormUnits(const PerLayer<Attention> &attention,
                             const PerLayer<FeedForward> &feedForward,
                             const Norm &norm) {
  return twoUnits(attention, feedForward, norm, false);
}

std::vector<Unit> mille::import::withCross(std::vector<Unit> units,
                                           Attention cross, const Norm &norm,
                                           bool before) {
  cross.cross = true;
  Unit unit = unitOf("cross", norm, before);
  unit.at = cross.heads.at;
  unit.branches = {Branch{"cross", cross, {}, unit.at}};
  units.insert(units.begin() + 1, unit);
  return units;
}
