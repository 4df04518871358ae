// Reads the pre-tokenizers of a tokenizer.json as steps that split.
// Must refuse those that the text library does not support.
#include "compiler/text/Reading.h"

#include "compiler/text/Regex.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mille;
using llvm::StringRef;

// GPT-2's own, which byte-level pre-tokenizers use unless told not to.
static const char gpt2[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+)"
    R"(|\s+(?!\S)|\s+)";
static const char asciiPunctuation[] = "!-\\/:-@\\[-`{-~";

static TextStep split(StringRef regex, uint32_t keep, bool inverted = false) {
  TextStep step;
  std::string why;
  step.kind = text::splitStep;
  step.number = keep | (inverted ? 256 : 0);
  translateRegex(regex, step.first, why);
  return step;
}

static bool keepOf(const TokenizerReading &reading, const json::Value &value,
                   uint32_t &keep) {
  const json::Value *behavior = TokenizerReading::get(value, "behavior");
  if (!behavior)
    return true;
  int found = llvm::StringSwitch<int>(behavior->text)
                  .Case("Isolated", text::isolated)
                  .Case("Removed", text::removed)
                  .Case("Contiguous", text::contiguous)
                  .Case("MergedWithPrevious", text::withPrevious)
                  .Case("MergedWithNext", text::withNext)
                  .Default(-1);
  if (found < 0)
    return reading.must(*behavior, "behavior",
                        "one of Isolated, Removed, Contiguous, "
                        "MergedWithPrevious, MergedWithNext");
  keep = uint32_t(found);
  return true;
}

static bool splitByPattern(TokenizerReading &reading,
                           const json::Value &value) {
  ReadPattern pattern;
  uint32_t keep = text::isolated;
  bool inverted = false;
  if (!readPattern(reading, value, pattern) || !keepOf(reading, value, keep) ||
      !reading.boolean(value, "invert", inverted))
    return false;
  TextStep step;
  step.kind = text::splitStep;
  step.number = keep | (inverted ? 256 : 0);
  step.first = pattern.regex;
  reading.vocabulary.splits.push_back(std::move(step));
  return true;
}

static bool byteLevel(TokenizerReading &reading, const json::Value &value) {
  bool prefix = true, regex = true;
  if (!reading.boolean(value, "add_prefix_space", prefix) ||
      !reading.boolean(value, "use_regex", regex))
    return false;
  Vocabulary &vocabulary = reading.vocabulary;
  if (prefix) {
    vocabulary.splits.emplace_back();
    vocabulary.splits.back().kind = text::prefixSpaceStep;
  }
  if (regex)
    vocabulary.splits.push_back(split(gpt2, text::isolated));
  vocabulary.flags |= text::byteLevel;
  return true;
}

// "prepend_scheme", or what older files have in its place.
static bool prefixOf(const TokenizerReading &reading, const json::Value &value,
                     uint32_t &prefix) {
  bool older = true;
  if (!reading.boolean(value, "add_prefix_space", older))
    return false;
  prefix = older ? text::always : text::never;
  const json::Value *scheme = TokenizerReading::get(value, "prepend_scheme");
  if (!scheme)
    return true;
  int found = llvm::StringSwitch<int>(scheme->text)
                  .Case("always", text::always)
                  .Case("first", text::first)
                  .Case("never", text::never)
                  .Default(-1);
  if (found < 0)
    return reading.must(*scheme, "prepend_scheme",
                        "one of always, first, never");
  prefix = uint32_t(found);
  return true;
}

bool mille::readMetaspace(const TokenizerReading &reading,
                          const json::Value &value, TextStep &step) {
  step.first = "\xe2\x96\x81";
  if (!reading.string(value, "replacement", step.first) ||
      !prefixOf(reading, value, step.number))
    return false;
  return !step.first.empty() ||
         reading.fail(value.at, "'replacement' is '' but must be a character");
}

static bool metaspace(TokenizerReading &reading, const json::Value &value) {
  TextStep step;
  bool splits = true;
  if (!readMetaspace(reading, value, step) ||
      !reading.boolean(value, "split", splits))
    return false;
  step.kind = text::metaspaceStep;
  step.number |= splits ? 256 : 0;
  reading.vocabulary.splits.push_back(std::move(step));
  return true;
}

static bool sequence(TokenizerReading &reading, const json::Value &value) {
  const json::Value *list = TokenizerReading::get(value, "pretokenizers");
  if (!list || list->kind != json::Kind::array)
    return reading.fail(value.at, "key 'pretokenizers' must be a list");
  for (const json::Value &each : list->items) {
    // What follows would see letters in the place of bytes.
    if (reading.vocabulary.flags & text::byteLevel)
      return reading.fail(each.at, "a pre-tokenizer follows ByteLevel, which "
                                   "must be the last of a Sequence");
    if (!readSplits(reading, each))
      return false;
  }
  return true;
}

static bool punctuation(TokenizerReading &reading, const json::Value &value) {
  uint32_t keep = text::isolated;
  if (!keepOf(reading, value, keep))
    return false;
  reading.vocabulary.splits.push_back(
      split("[\\p{P}" + std::string(asciiPunctuation) + "]", keep));
  return true;
}

static bool digits(TokenizerReading &reading, const json::Value &value) {
  bool individual = false;
  if (!reading.boolean(value, "individual_digits", individual))
    return false;
  reading.vocabulary.splits.push_back(
      split("\\p{N}", individual ? text::isolated : text::contiguous));
  return true;
}

static bool delimiter(TokenizerReading &reading, const json::Value &value) {
  std::string character;
  if (!reading.string(value, "delimiter", character))
    return false;
  if (character.empty())
    return reading.fail(value.at, "key 'delimiter' is missing");
  TextStep step = split("", text::removed);
  step.first = escapeRegex(character);
  reading.vocabulary.splits.push_back(std::move(step));
  return true;
}

bool mille::readSplits(TokenizerReading &reading, const json::Value &value) {
  StringRef type = reading.typeOf(value, "the pre-tokenizer");
  if (type.empty())
    return false;
  std::vector<TextStep> &splits = reading.vocabulary.splits;
  if (type == "Sequence")
    return sequence(reading, value);
  if (type == "ByteLevel")
    return byteLevel(reading, value);
  if (type == "Split")
    return splitByPattern(reading, value);
  if (type == "Metaspace")
    return metaspace(reading, value);
  if (type == "Digits")
    return digits(reading, value);
  if (type == "Punctuation")
    return punctuation(reading, value);
  if (type == "CharDelimiterSplit")
    return delimiter(reading, value);
  if (type == "WhitespaceSplit") {
    splits.push_back(split("\\s", text::removed));
  } else if (type == "Whitespace") {
    // Here joiners are of a word, unlike in the patterns of a Split.
    splits.push_back(split("[\\w\\x{200C}\\x{200D}]+|"
                           "[^\\w\\s\\x{200C}\\x{200D}]+",
                           text::removed, true));
  } else if (type == "BertPreTokenizer") {
    splits.push_back(split("\\s", text::removed));
    splits.push_back(
        split("[\\p{P}" + std::string(asciiPunctuation) + "]", text::isolated));
  } else {
    return reading.fail(
        value.at,
        "pre-tokenizer is '" + type +
            "' but must be one of BertPreTokenizer, ByteLevel, "
            "CharDelimiterSplit, Digits, Metaspace, Punctuation, Sequence, "
            "Split, Whitespace, WhitespaceSplit");
  }
  return true;
}
