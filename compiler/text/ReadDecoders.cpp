// Reads the decoders of a tokenizer.json, and the tokens before and after a
// text. Must refuse what the text library does not support.
#include "compiler/text/Reading.h"

using namespace mille;
using llvm::StringRef;

//===-- Decoders ----------------------------------------------------------===//

static bool sequence(TokenizerReading &reading, const json::Value &value) {
  return readSequence(reading, value, "decoders", readDecoders);
}

// Appends a step, which the caller fills.
static TextStep &append(TokenizerReading &reading, uint32_t kind) {
  TextStep &step = reading.vocabulary.decoders.emplace_back();
  step.kind = kind;
  return step;
}

template <uint32_t kind>
static bool plain(TokenizerReading &reading, const json::Value &) {
  append(reading, kind);
  return true;
}

static bool strip(TokenizerReading &reading, const json::Value &value) {
  bool fused = false;
  for (const TextStep &before : reading.vocabulary.decoders)
    fused = fused || before.kind == text::decodeFuseStep;
  TextStep &step = append(reading, text::decodeStripStep);
  int64_t start = 0, stop = 0;
  if (!reading.string(value, "content", step.first) ||
      !reading.whole(value, "start", 0, 1 << 20, start) ||
      !reading.whole(value, "stop", 0, 1 << 20, stop))
    return false;
  step.number = uint32_t(start);
  step.other = uint32_t(stop);
  // The end of a text is not known while it streams.
  return !fused || !stop ||
         reading.fail(value.at, "'stop' is " + llvm::Twine(stop) +
                                    " but must be 0 after a Fuse");
}

static bool pieces(TokenizerReading &reading, const json::Value &value) {
  TextStep &step = append(reading, text::decodePiecesStep);
  bool cleanup = true;
  step.first = "##";
  if (!reading.string(value, "prefix", step.first) ||
      !reading.boolean(value, "cleanup", cleanup))
    return false;
  step.number = cleanup;
  return true;
}

static bool replace(TokenizerReading &reading, const json::Value &value) {
  TextStep &step = append(reading, text::decodeReplaceStep);
  ReadPattern pattern;
  if (!readPattern(reading, value, pattern) ||
      !reading.string(value, "content", step.second))
    return false;
  step.first = pattern.literal;
  return pattern.isLiteral ||
         reading.fail(value.at, "a Replace decoder has a Regex but must have a "
                                "String");
}

static bool metaspace(TokenizerReading &reading, const json::Value &value) {
  return readMetaspace(reading, value,
                       append(reading, text::decodeMetaspaceStep));
}

static bool suffix(TokenizerReading &reading, const json::Value &value) {
  TextStep &step = append(reading, text::decodeSuffixStep);
  step.first = "</w>";
  return reading.string(value, "suffix", step.first);
}

// The ByteLevel decoder goes with a byte-level vocabulary only, and such a
// vocabulary with that decoder only.
static bool bytes(TokenizerReading &reading, const json::Value &value) {
  append(reading, text::decodeBytesStep);
  return (reading.vocabulary.flags & text::byteLevel) ||
         reading.fail(value.at, "decoder is 'ByteLevel' but the pre-tokenizer "
                                "is not");
}

bool mille::readDecoders(TokenizerReading &reading, const json::Value &value) {
  static const PartType types[] = {
      {"BPEDecoder", suffix},
      {"ByteFallback", plain<text::decodeFallbackStep>},
      {"ByteLevel", bytes},
      {"Fuse", plain<text::decodeFuseStep>},
      {"Metaspace", metaspace},
      {"Replace", replace},
      {"Sequence", sequence},
      {"Strip", strip},
      {"WordPiece", pieces}};
  return readPart(reading, value, "decoder", types);
}

//===-- Before and after a text -------------------------------------------===//

// Notes whether a part of a template has a type; null is no part.
static bool typeIn(TokenizerReading &reading, const json::Value *part) {
  int64_t type = 0;
  if (part && !reading.whole(*part, "type_id", 0, text::mostTokens, type))
    return false;
  reading.vocabulary.typed |= type != 0;
  return true;
}

// `single` of a template: tokens, the text, tokens.
static bool fromTemplate(TokenizerReading &reading, const json::Value &value) {
  const json::Value *single = TokenizerReading::get(value, "single");
  const json::Value *tokens = TokenizerReading::get(value, "special_tokens");
  if (!single || single->kind != json::Kind::array)
    return reading.fail(value.at, "key 'single' must be a list");
  bool after = false;
  for (const json::Value &each : single->items) {
    const json::Value *sequence = TokenizerReading::get(each, "Sequence");
    const json::Value *special = TokenizerReading::get(each, "SpecialToken");
    if (!typeIn(reading, sequence ? sequence : special))
      return false;
    if (sequence) {
      if (after)
        return reading.fail(sequence->at, "a text stands twice in 'single'");
      after = true;
      continue;
    }
    const json::Value *name =
        special ? TokenizerReading::get(*special, "id") : nullptr;
    const json::Value *token =
        name && tokens ? TokenizerReading::get(*tokens, name->text) : nullptr;
    const json::Value *ids =
        token ? TokenizerReading::get(*token, "ids") : nullptr;
    if (!ids || ids->kind != json::Kind::array)
      return reading.fail(each.at, "a part of 'single' is neither a Sequence "
                                   "nor a SpecialToken with ids");
    for (const json::Value &id : ids->items) {
      if (!id.whole || id.integer < 0 || id.integer >= text::mostTokens)
        return reading.must(id, "ids", "a list of ids");
      Vocabulary &vocabulary = reading.vocabulary;
      (after ? vocabulary.lastIds : vocabulary.firstIds)
          .push_back(uint32_t(id.integer));
    }
  }
  return after || reading.fail(single->at, "no text stands in 'single'");
}

// ["[SEP]", 102]
static bool pairOf(const TokenizerReading &reading, const json::Value &value,
                   StringRef key, std::vector<uint32_t> &into) {
  const json::Value *pair = TokenizerReading::get(value, key);
  if (!pair || pair->items.size() != 2 || !pair->items[1].whole ||
      pair->items[1].integer < 0 || pair->items[1].integer >= text::mostTokens)
    return reading.fail(value.at, "key '" + key +
                                      "' must be a token and its "
                                      "id");
  into.push_back(uint32_t(pair->items[1].integer));
  return true;
}

static bool clsAndSep(TokenizerReading &reading, const json::Value &value) {
  Vocabulary &vocabulary = reading.vocabulary;
  return pairOf(reading, value, "cls", vocabulary.firstIds) &&
         pairOf(reading, value, "sep", vocabulary.lastIds);
}

// A ByteLevel post-processor changes only offsets.
static bool nothing(TokenizerReading &, const json::Value &) { return true; }

static bool processors(TokenizerReading &reading, const json::Value &value) {
  return readSequence(reading, value, "processors", readEnds);
}

bool mille::readEnds(TokenizerReading &reading, const json::Value &value) {
  static const PartType types[] = {{"BertProcessing", clsAndSep},
                                   {"ByteLevel", nothing},
                                   {"RobertaProcessing", clsAndSep},
                                   {"Sequence", processors},
                                   {"TemplateProcessing", fromTemplate}};
  return readPart(reading, value, "post-processor", types);
}
