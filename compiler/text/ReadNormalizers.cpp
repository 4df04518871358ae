// Reads the normalizers of a tokenizer.json. Must refuse those that the text
// library does not support.
#include "compiler/text/Reading.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Base64.h"

using namespace mille;
using llvm::StringRef;

static bool replace(const TokenizerReading &reading, const json::Value &value,
                    TextStep &step) {
  ReadPattern pattern;
  if (!readPattern(reading, value, pattern) ||
      !reading.string(value, "content", step.second))
    return false;
  step.kind = pattern.isLiteral ? text::replaceStep : text::replaceAllStep;
  step.first = pattern.isLiteral ? pattern.literal : pattern.regex;
  return true;
}

static bool bert(const TokenizerReading &reading, const json::Value &value,
                 TextStep &step) {
  bool clean = true, chinese = true, lower = true;
  if (!reading.boolean(value, "clean_text", clean) ||
      !reading.boolean(value, "handle_chinese_chars", chinese) ||
      !reading.boolean(value, "lowercase", lower))
    return false;
  bool accents = lower; // absent: as lowercase
  if (!reading.boolean(value, "strip_accents", accents))
    return false;
  step.kind = text::bertStep;
  step.number = clean | chinese << 1 | accents << 2 | lower << 3;
  return true;
}

static bool charsmap(const TokenizerReading &reading, const json::Value &value,
                     TextStep &step) {
  const json::Value *map = TokenizerReading::get(value, "precompiled_charsmap");
  if (!map || map->kind != json::Kind::string)
    return reading.fail(value.at, "key 'precompiled_charsmap' must be a "
                                  "string of base64");
  std::vector<char> bytes;
  if (llvm::Error error = llvm::decodeBase64(map->text, bytes)) {
    llvm::consumeError(std::move(error));
    return reading.fail(map->at, "'precompiled_charsmap' is no base64");
  }
  step.kind = text::charsmapStep;
  step.first.assign(bytes.begin(), bytes.end());
  return true;
}

static bool strip(const TokenizerReading &reading, const json::Value &value,
                  TextStep &step) {
  bool left = true, right = true;
  if (!reading.boolean(value, "strip_left", left) ||
      !reading.boolean(value, "strip_right", right))
    return false;
  step.kind = text::stripStep;
  step.number = left | right << 1;
  return true;
}

static bool sequence(TokenizerReading &reading, const json::Value &value) {
  const json::Value *list = TokenizerReading::get(value, "normalizers");
  if (!list || list->kind != json::Kind::array)
    return reading.fail(value.at, "key 'normalizers' must be a list");
  for (const json::Value &each : list->items)
    if (!readNormalizers(reading, each))
      return false;
  return true;
}

bool mille::readNormalizers(TokenizerReading &reading,
                            const json::Value &value) {
  StringRef type = reading.typeOf(value, "the normalizer");
  if (type.empty())
    return false;
  if (type == "Sequence")
    return sequence(reading, value);
  TextStep step;
  bool good = true;
  int form = llvm::StringSwitch<int>(type)
                 .Case("NFC", text::nfc)
                 .Case("NFD", text::nfd)
                 .Case("NFKC", text::nfkc)
                 .Case("NFKD", text::nfkd)
                 .Default(-1);
  if (form >= 0) {
    step.kind = text::composeStep;
    step.number = uint32_t(form);
  } else if (type == "Lowercase") {
    step.kind = text::lowercaseStep;
  } else if (type == "StripAccents") {
    step.kind = text::noMarksStep;
  } else if (type == "Nmt") {
    step.kind = text::cleanStep;
  } else if (type == "Strip") {
    good = strip(reading, value, step);
  } else if (type == "Replace") {
    good = replace(reading, value, step);
  } else if (type == "Prepend") {
    step.kind = text::prependStep;
    good = reading.string(value, "prepend", step.first);
  } else if (type == "Precompiled") {
    good = charsmap(reading, value, step);
  } else if (type == "BertNormalizer") {
    good = bert(reading, value, step);
  } else {
    return reading.fail(
        value.at,
        "normalizer is '" + type +
            "' but must be one of BertNormalizer, Lowercase, NFC, NFD, NFKC, "
            "NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, Strip, "
            "StripAccents");
  }
  if (good)
    reading.vocabulary.normalizers.push_back(std::move(step));
  return good;
}
