// Reads the pre-tokenizers of a tokenizer.json as steps that split.
// Must refuse those that the text library does not support.
#include "compiler/text/Reading.h"

#include "compiler/text/Regex.h"

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
  static const TokenizerReading::Word behaviors[] = {
      {"Isolated", text::isolated},
      {"Removed", text::removed},
      {"Contiguous", text::contiguous},
      {"MergedWithPrevious", text::withPrevious},
      {"MergedWithNext", text::withNext}};
  return reading.oneOf(value, "behavior", behaviors, keep);
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
  static const TokenizerReading::Word schemes[] = {
      {"always", text::always}, {"first", text::first}, {"never", text::never}};
  return reading.oneOf(value, "prepend_scheme", schemes, prefix);
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

static bool partOfSequence(TokenizerReading &reading,
                           const json::Value &value) {
  // What follows would see letters in the place of bytes.
  if (reading.vocabulary.flags & text::byteLevel)
    return reading.fail(value.at, "a pre-tokenizer follows ByteLevel, which "
                                  "must be the last of a Sequence");
  return readSplits(reading, value);
}

static bool sequence(TokenizerReading &reading, const json::Value &value) {
  return readSequence(reading, value, "pretokenizers", partOfSequence);
}

static TextStep splitAtPunctuation(uint32_t keep) {
  return split("[\\p{P}" + std::string(asciiPunctuation) + "]", keep);
}

static bool punctuation(TokenizerReading &reading, const json::Value &value) {
  uint32_t keep = text::isolated;
  if (!keepOf(reading, value, keep))
    return false;
  reading.vocabulary.splits.push_back(splitAtPunctuation(keep));
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

static bool whitespace(TokenizerReading &reading, const json::Value &) {
  reading.vocabulary.splits.push_back(split("\\s", text::removed));
  return true;
}

// Here joiners are of a word, unlike in the patterns of a Split.
static bool words(TokenizerReading &reading, const json::Value &) {
  reading.vocabulary.splits.push_back(split("[\\w\\x{200C}\\x{200D}]+|"
                                            "[^\\w\\s\\x{200C}\\x{200D}]+",
                                            text::removed, true));
  return true;
}

static bool bert(TokenizerReading &reading, const json::Value &value) {
  whitespace(reading, value);
  reading.vocabulary.splits.push_back(splitAtPunctuation(text::isolated));
  return true;
}

bool mille::readSplits(TokenizerReading &reading, const json::Value &value) {
  static const PartType types[] = {{"BertPreTokenizer", bert},
                                   {"ByteLevel", byteLevel},
                                   {"CharDelimiterSplit", delimiter},
                                   {"Digits", digits},
                                   {"Metaspace", metaspace},
                                   {"Punctuation", punctuation},
                                   {"Sequence", sequence},
                                   {"Split", splitByPattern},
                                   {"Whitespace", words},
                                   {"WhitespaceSplit", whitespace}};
  return readPart(reading, value, "pre-tokenizer", types);
}
