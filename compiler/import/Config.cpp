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
    {"gelu_new", Activation::gelu_tanh},
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

Rope Config::rope(const Extent &headDim, double usualTheta) {
  double theta = positive("rope_theta", usualTheta);
  double partial = positive("partial_rotary_factor", 1);
  StringRef key = has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  const json::Value *scaling = object(key);
  ignore("rope_scaling");
  std::optional<Fields> fields;
  if (scaling) {
    fields.emplace(file(), *scaling, key, problems, context);
    theta = fields->positive("rope_theta", theta);
    partial = fields->positive("partial_rotary_factor", partial);
  }
  auto rotary = int64_t(double(headDim.value) * partial);
  if (rotary < 2 || rotary % 2 || rotary > headDim.value) {
    problems.error(headDim.at, "RoPE turns " + Twine(rotary) + " of the " +
                                   Twine(headDim.value) +
                                   " dimensions of a head, but must turn an "
                                   "even number of them");
    rotary = 2;
  }
  Rope rope;
  rope.frequencies = ropeFrequencies(theta, rotary);
  if (fields)
    scaleRope(*fields, key, rope);
  return rope;
}

void Config::scaleRope(Fields &scaling, StringRef key, Rope &rope) {
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
  } else if (type != "default") {
    scaling.error(typeKey, typeKey + " of " + key + " is \"" + type +
                               "\" but Mille does only \"default\", "
                               "\"linear\" and \"llama3\"");
    return;
  }
  scaling.ignore("original_max_position_embeddings");
  scaling.noteRest();
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
