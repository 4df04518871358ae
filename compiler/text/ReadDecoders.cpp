// Reads the decoders of a tokenizer.json, and the tokens before and after a
// text. Must refuse what the text library does not support.
#include "compiler/text/Reading.h"

using namespace mille;
using llvm::StringRef;

//===-- Decoders ----------------------------------------------------------===//

static bool sequence(TokenizerReading &reading, const json::Value &value) {
  const json::Value *list = TokenizerReading::get(value, "decoders");
  if (!list || list->kind != json::Kind::array)
    return reading.fail(value.at, "key 'decoders' must be a list");
  for (const json::Value &each : list->items)
    if (!readDecoders(reading, each))
      return false;
  return true;
}

static bool strip(const TokenizerReading &reading, const json::Value &value,
                  TextStep &step) {
  int64_t start = 0, stop = 0;
  if (!reading.string(value, "content", step.first) ||
      !reading.whole(value, "start", 0, 1 << 20, start) ||
      !reading.whole(value, "stop", 0, 1 << 20, stop))
    return false;
  step.kind = text::decodeStripStep;
  step.number = uint32_t(start);
  step.other = uint32_t(stop);
  bool fused = false;
  for (const TextStep &before : reading.vocabulary.decoders)
    fused = fused || before.kind == text::decodeFuseStep;
  // The end of a text is not known while it streams.
  return !fused || !stop ||
         reading.fail(value.at, "'stop' is " + llvm::Twine(stop) +
                                    " but must be 0 after a Fuse");
}

static bool pieces(const TokenizerReading &reading, const json::Value &value,
                   TextStep &step) {
  bool cleanup = true;
  step.kind = text::decodePiecesStep;
  step.first = "##";
  if (!reading.string(value, "prefix", step.first) ||
      !reading.boolean(value, "cleanup", cleanup))
    return false;
  step.number = cleanup;
  return true;
}

static bool replace(const TokenizerReading &reading, const json::Value &value,
                    TextStep &step) {
  ReadPattern pattern;
  if (!readPattern(reading, value, pattern) ||
      !reading.string(value, "content", step.second))
    return false;
  step.kind = text::decodeReplaceStep;
  step.first = pattern.literal;
  return pattern.isLiteral ||
         reading.fail(value.at, "a Replace decoder has a Regex but must have a "
                                "String");
}

// The ByteLevel decoder goes with a byte-level vocabulary only, and such a
// vocabulary with that decoder only.
static bool bytes(const TokenizerReading &reading, const json::Value &value,
                  TextStep &step) {
  step.kind = text::decodeBytesStep;
  return (reading.vocabulary.flags & text::byteLevel) ||
         reading.fail(value.at, "decoder is 'ByteLevel' but the pre-tokenizer "
                                "is not");
}

bool mille::readDecoders(TokenizerReading &reading, const json::Value &value) {
  StringRef type = reading.typeOf(value, "the decoder");
  if (type.empty())
    return false;
  TextStep step;
  bool good = true;
  if (type == "Sequence")
    return sequence(reading, value);
  if (type == "ByteLevel") {
    good = bytes(reading, value, step);
  } else if (type == "ByteFallback") {
    step.kind = text::decodeFallbackStep;
  } else if (type == "Fuse") {
    step.kind = text::decodeFuseStep;
  } else if (type == "Strip") {
    good = strip(reading, value, step);
  } else if (type == "Replace") {
    good = replace(reading, value, step);
  } else if (type == "WordPiece") {
    good = pieces(reading, value, step);
  } else if (type == "Metaspace") {
    step.kind = text::decodeMetaspaceStep;
    good = readMetaspace(reading, value, step);
  } else if (type == "BPEDecoder") {
    step.kind = text::decodeSuffixStep;
    step.first = "</w>";
    good = reading.string(value, "suffix", step.first);
  } else {
    return reading.fail(value.at,
                        "decoder is '" + type +
                            "' but must be one of BPEDecoder, ByteFallback, "
                            "ByteLevel, Fuse, Metaspace, Replace, Sequence, "
                            "Strip, WordPiece");
  }
  if (good)
    reading.vocabulary.decoders.push_back(std::move(step));
  return good;
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

bool mille::readEnds(TokenizerReading &reading, const json::Value &value) {
  StringRef type = reading.typeOf(value, "the post-processor");
  if (type.empty())
    return false;
  if (type == "ByteLevel") // only offsets
    return true;
  if (type == "TemplateProcessing")
    return fromTemplate(reading, value);
  Vocabulary &vocabulary = reading.vocabulary;
  if (type == "BertProcessing" || type == "RobertaProcessing")
    return pairOf(reading, value, "cls", vocabulary.firstIds) &&
           pairOf(reading, value, "sep", vocabulary.lastIds);
  const json::Value *list = TokenizerReading::get(value, "processors");
  if (type == "Sequence" && list && list->kind == json::Kind::array) {
    for (const json::Value &each : list->items)
      if (!readEnds(reading, each))
        return false;
    return true;
  }
  return reading.fail(value.at,
                      "post-processor is '" + type +
                          "' but must be one of BertProcessing, ByteLevel, "
                          "RobertaProcessing, Sequence, TemplateProcessing");
}
