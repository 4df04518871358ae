// Reads RoPE and its scalings from a config, under old and new keys. Must not
// name a family.
#include "compiler/import/Rope.h"
#include "compiler/import/config/Config.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

const json::Value *Config::ropeObject(StringRef &key) {
  ignore("rope_parameters");
  key = "rope_scaling";
  const json::Value *object = this->object(key);
  if (object && !object->members.empty())
    return object;
  key = "rope_parameters";
  return this->object(key);
}

// Finds the object for one kind of layers, if each kind has its own.
const json::Value *Config::scalingOfLayers(const json::Value *object,
                                           StringRef &key,
                                           const RopeKeys &keys) {
  if (key == "rope_scaling") {
    if (has("rope_parameters"))
      error(key, "rope_scaling is given but rope_parameters is, too");
    else if (object->find("type") && !object->find("rope_type"))
      error(key, "rope_scaling has a type but layers of several kinds go by "
                 "its rope_type");
    return keys.scaled ? object : nullptr;
  }
  const json::Member *entry = object->find(keys.layerType);
  if (!entry && (object->find("rope_theta") || object->find("rope_type")))
    error(key, "rope_parameters has no \"" + keys.layerType +
                   "\" but RoPE is given for each kind of layers");
  key = keys.layerType;
  return entry && entry->value.kind != json::Kind::null ? &entry->value
                                                        : nullptr;
}

std::optional<Config::Scaling> Config::scalingOf(const RopeKeys &keys) {
  StringRef key;
  const json::Value *object = ropeObject(key);
  if (!object)
    return std::nullopt;
  if (!keys.layerType.empty()) {
    object = scalingOfLayers(object, key, keys);
    if (!object)
      return std::nullopt;
  }
  for (const json::Member &member : object->members)
    if (member.value.kind == json::Kind::object)
      problems.error(at(member.value),
                     "\"" + member.key + "\" of " + key + " is " +
                         member.value.describe() +
                         " but all layers have the same RoPE");
  Scaling scaling{Fields(file(), *object, key, problems, context), key, ""};
  scaling.type = scaling.fields.text(
      scaling.fields.has("rope_type") ? "rope_type" : "type", "default");
  scaling.fields.ignore("type");
  return scaling;
}

// Refuses partial rotation for families whose heads turn whole, which would
// ignore it silently.
void Config::checkPart(Fields &fields, const RopeKeys &keys) {
  if (keys.partial)
    return;
  double part = fields.positive("partial_rotary_factor", 1);
  if (part != 1)
    fields.error("partial_rotary_factor", "partial_rotary_factor is " +
                                              formatDouble(part) +
                                              " but heads turn whole");
}

void Config::slowPairs(const Extent &headDim, Rope &rope) {
  if (ropeFactors.empty())
    return;
  if (ropeFactors.size() != rope.frequencies.size())
    problems.error(headDim.at, "there are " + Twine(ropeFactors.size()) +
                                   " factors of frequencies but RoPE turns " +
                                   Twine(rope.frequencies.size()) + " pairs");
  else
    for (auto [frequency, factor] : llvm::zip(rope.frequencies, ropeFactors))
      frequency /= factor;
}

Rope Config::rope(const Extent &headDim, const RopeKeys &keys) {
  double theta = positive(keys.thetaKey, keys.theta);
  double partial = keys.partial ? positive(keys.partialKey, *keys.partial) : 1;
  checkPart(*this, keys);
  std::optional<Scaling> scaling = scalingOf(keys);
  const bool proportional = scaling && scaling->type == "proportional";
  if (scaling) {
    Fields &fields = scaling->fields;
    theta = fields.positive("rope_theta", theta);
    if (!proportional)
      checkPart(fields, keys);
    if (keys.partial && !proportional)
      partial = fields.positive("partial_rotary_factor", partial);
  }
  auto rotary = int64_t(double(headDim.value) * partial);
  // An odd number is rounded up, since channels turn in pairs.
  if (rotary < 1 || rotary + rotary % 2 > headDim.value ||
      (rotary % 2 && keys.evenPart)) {
    problems.error(headDim.at, "RoPE turns " + Twine(rotary) + " of the " +
                                   Twine(headDim.value) +
                                   " dimensions of a head, but must turn pairs "
                                   "of them");
    rotary = 2;
  }
  Rope rope;
  rope.pairing = keys.pairing;
  rope.frequencies = ropeFrequencies(theta, rotary);
  slowPairs(headDim, rope);
  if (scaling)
    scaleRope(*scaling, keys, theta, rope);
  return rope;
}

// The length from which a scaling starts; a key in the config wins.
double Config::trainedTokens(Scaling &scaling, const RopeKeys &keys) {
  StringRef key = "original_max_position_embeddings";
  if (has(key))
    return positive(key);
  if (keys.trained)
    return *keys.trained;
  return scaling.fields.has(key) ? scaling.fields.positive(key)
                                 : positive("max_position_embeddings");
}

static void scaleByParts(Fields &scaling, double trained, Rope &rope) {
  double low = scaling.positive("low_freq_factor");
  double high = scaling.positive("high_freq_factor");
  if (low >= high)
    scaling.error("low_freq_factor", "low_freq_factor is " + formatDouble(low) +
                                         " but high_freq_factor is " +
                                         formatDouble(high));
  scaleLlama3(rope.frequencies, scaling.positive("factor"), low, high, trained);
}

// Keeps all pairs, but sets the frequency of the later ones to 0.
static void scaleProportional(Fields &scaling, Rope &rope) {
  const double part = scaling.positive("partial_rotary_factor", 1);
  const double factor = scaling.positive("factor", 1);
  const auto turning = size_t(part * double(rope.frequencies.size()));
  for (size_t i = 0; i < rope.frequencies.size(); ++i)
    rope.frequencies[i] = i < turning ? rope.frequencies[i] / factor : 0;
}

static LongContext dynamicContext(Fields &scaling, double length,
                                  size_t pairs) {
  double factor = scaling.positive("factor");
  if (factor < 1 || pairs < 2)
    scaling.error("factor", "factor is " + formatDouble(factor) + " for " +
                                Twine(pairs) +
                                " pairs but dynamic RoPE needs a factor "
                                "from 1 and 2 pairs");
  return LongContext{int64_t(length), factor, {}};
}

void Config::scaleRope(Scaling &scaling, const RopeKeys &keys, double theta,
                       Rope &rope) {
  Fields &fields = scaling.fields;
  const std::string &type = scaling.type;
  if (type == "linear") {
    double factor = fields.positive("factor");
    for (double &frequency : rope.frequencies)
      frequency /= factor;
  } else if (type == "llama3") {
    scaleByParts(fields, trainedTokens(scaling, keys), rope);
  } else if (type == "dynamic") {
    rope.longContext = dynamicContext(
        fields, positive("max_position_embeddings"), rope.frequencies.size());
  } else if (type == "yarn") {
    if (!keys.layerType.empty()) // the key is for all kinds of layers or none
      fields.mustBe("truncate", {"true"});
    scaleYarn(scaling, theta, trainedTokens(scaling, keys), rope);
  } else if (type == "longrope" || type == "su") {
    scaleByFactors(scaling, trainedTokens(scaling, keys), rope);
  } else if (type == "proportional" && !keys.partial) {
    scaleProportional(fields, rope);
  } else if (type != "default") {
    StringRef typeKey = fields.has("rope_type") ? "rope_type" : "type";
    fields.error(typeKey,
                 typeKey + " of " + scaling.key + " is \"" + type +
                     "\" but Mille does only \"default\", \"linear\", "
                     "\"dynamic\", \"yarn\", \"longrope\", \"llama3\" and "
                     "\"proportional\"");
    return;
  }
  fields.ignore("original_max_position_embeddings");
  fields.ignore("max_position_embeddings");
  fields.ignore(keys.besides);
  fields.noteRest();
}

void Config::scaleYarn(Scaling &scaling, double theta, double trained,
                       Rope &rope) {
  Fields &fields = scaling.fields;
  double factor = fields.has("factor")
                      ? fields.positive("factor")
                      : positive("max_position_embeddings") / trained;
  double weight = fields.number("mscale", 0),
         ofAll = fields.number("mscale_all_dim", 0);
  double magnitude =
      weight != 0 && ofAll != 0
          ? yarnMagnitude(factor, weight) / yarnMagnitude(factor, ofAll)
          : yarnMagnitude(factor);
  rope.attentionFactor = fields.positive("attention_factor", magnitude);
  import::scaleYarn(rope.frequencies, theta, factor, trained,
                    fields.positive("beta_fast", 32),
                    fields.positive("beta_slow", 1),
                    fields.flag("truncate", true));
}

// LongRoPE: each pair is slowed by its own factor, and runs longer than the
// trained length use other factors.
void Config::scaleByFactors(Scaling &scaling, double trained, Rope &rope) {
  Fields &fields = scaling.fields;
  auto divided = [&](StringRef name) {
    std::vector<double> frequencies = rope.frequencies;
    const json::Value *factors = fields.list(name);
    size_t count = factors ? factors->items.size() : 0;
    if (count != frequencies.size()) {
      fields.error(name, name + " of " + scaling.key + " has " + Twine(count) +
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
  double factor = fields.has("factor")
                      ? fields.positive("factor")
                      : positive("max_position_embeddings") / trained;
  double magnitude =
      factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(trained));
  rope.attentionFactor = fields.positive("attention_factor", magnitude);
  LongContext further;
  further.after = int64_t(trained);
  further.frequencies = divided("long_factor");
  rope.frequencies = divided("short_factor");
  rope.longContext = std::move(further);
}
