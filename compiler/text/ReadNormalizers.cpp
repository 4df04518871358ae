// Reads the normalizers of a tokenizer.json. Must refuse those that the text
// library does not support.
#include "compiler/text/Reading.h"

#include "llvm/Support/Base64.h"

using namespace mille;

// Appends a step, which the caller fills.
static TextStep &append(TokenizerReading &reading, uint32_t kind,
                        uint32_t number = 0) {
  TextStep &step = reading.vocabulary.normalizers.emplace_back();
  step.kind = kind;
  step.number = number;
  return step;
}

template <uint32_t kind, uint32_t number = 0>
static bool plain(TokenizerReading &reading, const json::Value &) {
  append(reading, kind, number);
  return true;
}

static bool replace(TokenizerReading &reading, const json::Value &value) {
  TextStep &step = append(reading, text::replaceStep);
  ReadPattern pattern;
  if (!readPattern(reading, value, pattern) ||
      !reading.string(value, "content", step.second))
    return false;
  step.kind = pattern.isLiteral ? text::replaceStep : text::replaceAllStep;
  step.first = pattern.isLiteral ? pattern.literal : pattern.regex;
  return true;
}

static bool prepend(TokenizerReading &reading, const json::Value &value) {
  return reading.string(value, "prepend",
                        append(reading, text::prependStep).first);
}

static bool bert(TokenizerReading &reading, const json::Value &value) {
  bool clean = true, chinese = true, lower = true;
  if (!reading.boolean(value, "clean_text", clean) ||
      !reading.boolean(value, "handle_chinese_chars", chinese) ||
      !reading.boolean(value, "lowercase", lower))
    return false;
  bool accents = lower; // absent: as lowercase
  if (!reading.boolean(value, "strip_accents", accents))
    return false;
  append(reading, text::bertStep,
         clean | chinese << 1 | accents << 2 | lower << 3);
  return true;
}

static bool charsmap(TokenizerReading &reading, const json::Value &value) {
  const json::Value *map = TokenizerReading::get(value, "precompiled_charsmap");
  if (!map || map->kind != json::Kind::string)
    return reading.fail(value.at, "key 'precompiled_charsmap' must be a "
                                  "string of base64");
  std::vector<char> bytes;
  if (llvm::Error error = llvm::decodeBase64(map->text, bytes)) {
    llvm::consumeError(std::move(error));
    return reading.fail(map->at, "'precompiled_charsmap' is no base64");
  }
  append(reading, text::charsmapStep).first.assign(bytes.begin(), bytes.end());
  return true;
}

static bool strip(TokenizerReading &reading, const json::Value &value) {
  bool left = true, right = true;
  if (!reading.boolean(value, "strip_left", left) ||
      !reading.boolean(value, "strip_right", right))
    return false;
  append(reading, text::stripStep, left | right << 1);
  return true;
}

static bool sequence(TokenizerReading &reading, const json::Value &value) {
  return readSequence(reading, value, "normalizers", readNormalizers);
}

bool mille::readNormalizers(TokenizerReading &reading,
                            const json::Value &value) {
  static const PartType types[] = {
      {"BertNormalizer", bert},
      {"Lowercase", plain<text::lowercaseStep>},
      {"NFC", plain<text::composeStep, text::nfc>},
      {"NFD", plain<text::composeStep, text::nfd>},
      {"NFKC", plain<text::composeStep, text::nfkc>},
      {"NFKD", plain<text::composeStep, text::nfkd>},
      {"Nmt", plain<text::cleanStep>},
      {"Precompiled", charsmap},
      {"Prepend", prepend},
      {"Replace", replace},
      {"Sequence", sequence},
      {"Strip", strip},
      {"StripAccents", plain<text::noMarksStep>}};
  return readPart(reading, value, "normalizer", types);
}
