// The vocabulary that families share: activations, RoPE and its scalings, the
// two usual pairs of units. No family is named here.
#include "compiler/import/Config.h"
#include "compiler/import/Rope.h"

#include <cmath>

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
      problems(outer.problems), context(outer.context), tensors(outer.tensors) {}

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
                             " but must divide " + hidden.key +
                             ", which is " + Twine(hidden.value))
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
      problems.error(at(item), "an entry of " + key + " is " +
                                   item.describe() +
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
      problems.error(at(item), "an entry of layer_types is " +
                                   item.describe() + " but must be " + choice);
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
  llvm::SmallVector<StringRef> parts;
  StringRef(value->text).split(parts, '|', -1, false);
  for (StringRef part : parts)
    words.push_back(part.trim().lower());
  return words;
}

// The length that a scaling starts from.
double Config::trainedTokens(Fields &scaling) {
  if (scaling.has("original_max_position_embeddings"))
    return scaling.positive("original_max_position_embeddings");
  return positive(has("original_max_position_embeddings")
                      ? "original_max_position_embeddings"
                      : "max_position_embeddings");
}

Rope Config::rope(const Extent &headDim, const RopeKeys &keys) {
  double theta = positive(keys.thetaKey, keys.theta);
  double partial = positive(keys.partialKey, keys.partial);
  StringRef key = has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  const json::Value *scaling = object(key);
  ignore("rope_scaling");
  bool own = false; // each kind of layers has its entry
  if (scaling && !keys.layerType.empty())
    if (const json::Member *entry = scaling->find(keys.layerType)) {
      scaling = entry->value.kind == json::Kind::null ? nullptr : &entry->value;
      key = keys.layerType;
      own = true;
    }
  if (!own && !keys.scaled)
    scaling = nullptr;
  std::optional<Fields> fields;
  if (scaling) {
    fields.emplace(file(), *scaling, key, problems, context);
    theta = fields->positive("rope_theta", theta);
    partial = fields->positive("partial_rotary_factor", partial);
  }
  auto rotary = int64_t(double(headDim.value) * partial);
  // An odd number is rounded up: pairs turn.
  if (rotary < 1 || rotary + rotary % 2 > headDim.value) {
    problems.error(headDim.at, "RoPE turns " + Twine(rotary) + " of the " +
                                   Twine(headDim.value) +
                                   " dimensions of a head, but must turn pairs "
                                   "of them");
    rotary = 2;
  }
  Rope rope;
  rope.pairing = keys.pairing;
  rope.frequencies = ropeFrequencies(theta, rotary);
  if (fields)
    scaleRope(*fields, key, theta, keys.besides, rope);
  return rope;
}

void Config::scaleRope(Fields &scaling, StringRef key, double theta,
                       StringRef besides, Rope &rope) {
  static constexpr StringRef done[] = {"default", "linear",  "dynamic", "yarn",
                                       "longrope", "llama3", "su"};
  StringRef typeKey = scaling.has("rope_type") ? "rope_type" : "type";
  std::string type = scaling.text(typeKey, "default");
  scaling.ignore("type");
  if (type == "linear") {
    double factor = scaling.positive("factor");
    for (double &frequency : rope.frequencies)
      frequency /= factor;
  } else if (type == "llama3") {
    double low = scaling.positive("low_freq_factor");
    double high = scaling.positive("high_freq_factor");
    if (low >= high)
      scaling.error("low_freq_factor", "low_freq_factor is " +
                                           formatDouble(low) +
                                           " but high_freq_factor is " +
                                           formatDouble(high));
    scaleLlama3(rope.frequencies, scaling.positive("factor"), low, high,
                scaling.positive("original_max_position_embeddings"));
  } else if (type == "dynamic") {
    double factor = scaling.positive("factor");
    if (factor < 1 || rope.frequencies.size() < 2)
      scaling.error("factor", "factor is " + formatDouble(factor) + " for " +
                                  Twine(rope.frequencies.size()) +
                                  " pairs but dynamic RoPE needs a factor "
                                  "from 1 and 2 pairs");
    rope.longContext = LongContext{
        int64_t(positive("max_position_embeddings")), factor, {}};
  } else if (type == "yarn") {
    scaleYarn(scaling, theta, rope);
  } else if (type == "longrope" || type == "su") {
    scaleByFactors(scaling, key, rope);
  } else if (!llvm::is_contained(done, type)) {
    scaling.error(typeKey,
                  typeKey + " of " + key + " is \"" + type +
                      "\" but Mille does only \"default\", \"linear\", "
                      "\"dynamic\", \"yarn\", \"longrope\" and \"llama3\"");
    return;
  }
  scaling.ignore("original_max_position_embeddings");
  scaling.ignore("max_position_embeddings");
  scaling.ignore(besides);
  scaling.noteRest();
}

void Config::scaleYarn(Fields &scaling, double theta, Rope &rope) {
  double trained = trainedTokens(scaling);
  double factor =
      scaling.has("factor")
          ? scaling.positive("factor")
          : positive("max_position_embeddings") / trained;
  double weight = scaling.number("mscale", 0),
         ofAll = scaling.number("mscale_all_dim", 0);
  double magnitude = weight != 0 && ofAll != 0
                         ? yarnMagnitude(factor, weight) /
                               yarnMagnitude(factor, ofAll)
                         : yarnMagnitude(factor);
  rope.attentionFactor = scaling.positive("attention_factor", magnitude);
  import::scaleYarn(rope.frequencies, theta, factor, trained,
                    scaling.positive("beta_fast", 32),
                    scaling.positive("beta_slow", 1),
                    scaling.flag("truncate", true));
}

// LongRoPE: every pair is slowed by a factor of its own, and runs longer than
// the trained length have other factors.
void Config::scaleByFactors(Fields &scaling, StringRef key, Rope &rope) {
  auto divided = [&](StringRef name) {
    std::vector<double> frequencies = rope.frequencies;
    const json::Value *factors = scaling.list(name);
    size_t count = factors ? factors->items.size() : 0;
    if (count != frequencies.size()) {
      scaling.error(name, name + " of " + key + " has " + Twine(count) +
                              " factors but RoPE turns " +
                              Twine(frequencies.size()) + " pairs");
      return frequencies;
    }
    for (size_t i = 0; i < count; ++i) {
      const json::Value &factor = factors->items[i];
      if (factor.kind == json::Kind::number && factor.number > 0)
        frequencies[i] /= factor.number;
      else
        problems.error(at(factor), "an entry of " + name + " is " +
                                       factor.describe() +
                                       " but must be more than 0");
    }
    return frequencies;
  };
  double trained = trainedTokens(scaling);
  bool extended = has("original_max_position_embeddings") ||
                  !scaling.has("factor");
  double factor = extended ? positive("max_position_embeddings") / trained
                           : scaling.positive("factor");
  scaling.ignore("factor");
  double magnitude =
      factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(trained));
  rope.attentionFactor = scaling.positive("attention_factor", magnitude);
  LongContext further;
  further.after = int64_t(trained);
  further.frequencies = divided("long_factor");
  rope.frequencies = divided("short_factor");
  rope.longContext = std::move(further);
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

std::vector<Unit> mille::import::preNormUnits(
    const PerLayer<Attention> &attention,
    const PerLayer<FeedForward> &feedForward, const Norm &norm) {
  return twoUnits(attention, feedForward, norm, true);
}

std::vector<Unit> mille::import::postNormUnits(
    const PerLayer<Attention> &attention,
    const PerLayer<FeedForward> &feedForward, const Norm &norm) {
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
