// Translates RoPE's scaling into keys of a config. Must not know an
// architecture.
#include "compiler/import/Rope.h"
#include "compiler/import/gguf/Architectures.h"

#include <charconv>
#include <cmath>

using namespace mille;
using namespace mille::import;
using llvm::StringRef;
using llvm::Twine;

namespace {

// Prints the factors of pairs, each with the fewest digits that read back as
// the same f32.
std::string factorList(Words &words, StringRef tensor) {
  std::string list;
  for (double factor : words.factors(tensor)) {
    char text[64];
    list +=
        (list.empty() ? "" : ", ") +
        std::string(text,
                    std::to_chars(text, text + sizeof text, float(factor)).ptr);
  }
  return "[" + list + "]";
}

// A config key with the value of a GGUF key, or nothing if that is absent.
std::string member(Words &words, StringRef word, StringRef key) {
  const double none = std::nan("");
  if (std::isnan(words.number(key, none)))
    return "";
  const GgufKey *found = words.file.key(words.whole(key));
  return (", \"" + word + "\": " + words.file.describe(*found)).str();
}

constexpr StringRef trained = "rope.scaling.original_context_length";
constexpr StringRef magnitude = "rope.scaling.attn_factor";

// The file's factor for cosines and sines, if it differs from the one that
// follows from the lengths.
std::string ownMagnitude(Words &words, double following) {
  const double given = words.number(magnitude);
  if (!words.has(magnitude) || float(given) == float(following))
    return "";
  return ", \"attention_factor\": " + jsonNumber(given);
}

constexpr StringRef longer = "rope_factors_long.weight";
constexpr StringRef shorter = "rope_factors_short.weight";

void sayFactors(Words &words) {
  const double length = words.number(trained, 1);
  const double stretch = words.number("context_length") / length;
  const double following =
      stretch <= 1 ? 1 : std::sqrt(1 + std::log(stretch) / std::log(length));
  words.say("rope_scaling",
            "{\"rope_type\": \"longrope\", \"long_factor\": " +
                factorList(words, longer) +
                ", \"short_factor\": " + factorList(words, shorter) +
                member(words, "original_max_position_embeddings", trained) +
                ownMagnitude(words, following) + "}",
            trained);
}

void sayYarn(Words &words, StringRef more) {
  std::string text =
      "{\"rope_type\": \"yarn\"" + more.str() +
      member(words, "factor", "rope.scaling.factor") +
      member(words, "original_max_position_embeddings", trained) +
      member(words, "beta_fast", "rope.scaling.yarn_beta_fast") +
      member(words, "beta_slow", "rope.scaling.yarn_beta_slow");
  // 0.1 times mscale_all_dim.
  constexpr StringRef ofAll = "rope.scaling.yarn_log_multiplier";
  if (words.number(ofAll) != 0) {
    const std::string ten = member(words, "mscale", ofAll) + "e1";
    text += ten + ", \"mscale_all_dim\"" + ten.substr(ten.find(':'));
  } else if (double given = words.number(magnitude, 1); given != 1) {
    const double factor = words.number("rope.scaling.factor", 1);
    text +=
        ", \"attention_factor\": " + jsonNumber(given * yarnMagnitude(factor));
  }
  words.ignore(magnitude);
  words.say("rope_scaling", text + "}", "rope.scaling.factor");
}

} // namespace

void mille::import::sayPart(Words &words) {
  const int64_t head = words.headSize();
  const int64_t turning = words.integer("rope.dimension_count", head);
  if (turning == head)
    return;
  // head * part is cut to a whole number, so it must not come out a little less
  // than `turning`.
  double part = double(turning) / double(head);
  if (int64_t(double(head) * part) < turning)
    part = std::nextafter(part, 2.0);
  words.say("partial_rotary_factor", jsonNumber(part), "rope.dimension_count");
}

void mille::import::sayRope(Words &words, StringRef more) {
  words.ignore("rope.scaling.finetuned");
  words.ignore(trained); // matters only for YaRN and for factors
  const bool typed = words.has("rope.scaling.type");
  StringRef type =
      words.file.text(words.whole("rope.scaling.type")).value_or("");
  if (words.holds(longer) && words.holds(shorter))
    return sayFactors(words);
  if (type == "yarn")
    return sayYarn(words, more);
  const bool old = words.has("rope.scale_linear");
  if (type == "linear" || (!typed && old)) {
    StringRef key = old ? "rope.scale_linear" : "rope.scaling.factor";
    words.say("rope_scaling",
              "{\"rope_type\": \"linear\"" + member(words, "factor", key) + "}",
              key);
    return;
  }
  if (type == "longrope")
    words.error("rope.scaling.type is \"longrope\" but the file has no "
                "rope_factors_long.weight and rope_factors_short.weight");
  else if (typed && type != "none")
    words.error(words.whole("rope.scaling.type") + " is \"" + escaped(type) +
                "\" but Mille does none, linear, yarn and longrope");
}
