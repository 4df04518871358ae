// Reads a NAME.tokens. Checks every offset, length and id in it, so that no
// other code has to. Must not trust the hash alone.
#include "text/Chat.h"
#include "text/Normalize.h"
#include "text/Tokenizer.h"

#include <math.h>

namespace mille::text {
namespace {

Status bad(const char *what) {
  return say(MILLE_TEXT_BAD_FILE, "the tokens file is damaged: %s", what);
}

class Opening {
public:
  explicit Opening(mille_text &text) : text(text), header(text.header) {}
  Status run();

private:
  Status frame();
  Status tokens();
  Status ids();
  Status steps();
  Status step(const Step &from, ReadyStep &into);
  Status added();
  Status tables();
  Status bytesOfTokens();

  // A part as items of `size` bytes.
  bool items(Part part, size_t size, const char *&data, size_t &count) const {
    const Span &span = header.part[part];
    if (span.bytes % size || span.offset % 8)
      return false;
    data = text.bytes.data() + span.offset;
    count = span.bytes / size;
    return true;
  }
  bool string(const Span &span, View &into) const {
    const Span &all = header.part[strings];
    if (span.offset > all.bytes || span.bytes > all.bytes - span.offset)
      return false;
    into = {text.bytes.data() + all.offset + span.offset, size_t(span.bytes)};
    return true;
  }
  bool textString(const Span &span, View &into) const {
    return string(span, into) && isUtf8(into);
  }
  bool isId(uint32_t id) const { return text.hasToken(id); }

  mille_text &text;
  Header &header;
};

Status Opening::frame() {
  Array<char> &bytes = text.bytes;
  if (bytes.size() < sizeof header)
    return bad("it is shorter than its header");
  memcpy(&header, bytes.data(), sizeof header);
  if (memcmp(header.magic, fileMagic, sizeof fileMagic))
    return say(MILLE_TEXT_BAD_FILE, "the file is no tokens file of Mille");
  if (header.version != fileVersion)
    return say(MILLE_TEXT_BAD_FILE,
               "the tokens file has version %u but this library reads %u",
               header.version, fileVersion);
  if (header.fileBytes != bytes.size())
    return say(MILLE_TEXT_BAD_FILE,
               "the tokens file has %zu bytes but its header says %llu",
               bytes.size(), (unsigned long long)header.fileBytes);
  memset(bytes.data() + offsetof(Header, hash), 0, sizeof header.hash);
  if (hashOf(reinterpret_cast<unsigned char *>(bytes.data()), bytes.size()) !=
      header.hash)
    return bad("its hash is another");
  for (const Span &part : header.part)
    if (part.offset > bytes.size() || part.bytes > bytes.size() - part.offset)
      return bad("a part ends after the file");
  if (header.model > wordPieceModel || header.reserved)
    return bad("it has no model that this library knows");
  return MILLE_TEXT_OK;
}

Status Opening::tokens() {
  const char *ends = nullptr, *all = nullptr, *kinds = nullptr;
  size_t endCount = 0, byteCount = 0, kindCount = 0;
  if (!items(tokenEnds, 4, ends, endCount) ||
      !items(tokenBytes, 1, all, byteCount) ||
      !items(tokenKinds, 1, kinds, kindCount) || header.tokens > mostTokens ||
      endCount != header.tokens || kindCount != header.tokens)
    return bad("its tokens are not as many as it says");
  if (!text.tokens.reserve(endCount))
    return outOfMemory();
  text.kinds = reinterpret_cast<const uint8_t *>(kinds);
  uint32_t begin = 0;
  for (size_t id = 0; id < endCount; ++id) {
    uint32_t end = 0;
    memcpy(&end, ends + id * 4, 4);
    if (end < begin || end > byteCount)
      return bad("a token ends after the tokens");
    View token(all + begin, end - begin);
    text.tokens.push(token);
    if ((text.kinds[id] & reachable) && !token.size)
      return bad("a token is empty");
    if ((text.kinds[id] & reachable) && !(text.kinds[id] & present))
      return bad("an id without a token can be made of a text");
    if (text.kinds[id] & reachable && token.size > text.longestToken)
      text.longestToken = token.size;
    begin = end;
  }
  if (header.model != unigramModel)
    return MILLE_TEXT_OK;
  const char *scores = nullptr;
  size_t count = 0;
  if (!items(tokenScores, 8, scores, count) || count != header.tokens)
    return bad("its scores are not as many as its tokens");
  text.scores = reinterpret_cast<const double *>(scores);
  text.leastScore = HUGE_VAL;
  for (size_t id = 0; id < count; ++id) {
    if (!isfinite(text.scores[id]))
      return bad("a score is no number");
    if (text.scores[id] < text.leastScore)
      text.leastScore = text.scores[id];
  }
  return MILLE_TEXT_OK;
}

Status Opening::ids() {
  for (uint32_t id : header.role)
    if (id != none && !isId(id))
      return bad("a role has an id that no token has");
  text.unknown = header.role[unknownRole];
  const Part lists[2] = {firstIds, lastIds};
  Array<uint32_t> *into[2] = {&text.firstIds, &text.lastIds};
  for (int i = 0; i < 2; ++i) {
    const char *data = nullptr;
    size_t count = 0;
    if (!items(lists[i], 4, data, count))
      return bad("a list of ids is no list");
    into[i]->append(reinterpret_cast<const uint32_t *>(data), count);
    if (into[i]->lost())
      return outOfMemory();
    for (uint32_t id : *into[i])
      if (!isId(id))
        return bad("an id before or after a text is no token's");
  }
  if (!textString(header.continues, text.continues) ||
      !textString(header.endsWord, text.endsWord) ||
      !textString(header.chatTemplate, text.chatTemplate) ||
      !textString(header.bosText, text.bosText) ||
      !textString(header.eosText, text.eosText))
    return bad("a text ends after the texts, or is no UTF-8");
  return MILLE_TEXT_OK;
}

Status Opening::step(const Step &from, ReadyStep &into) {
  into.kind = from.kind;
  into.number = from.number;
  into.other = from.other;
  bool isMap = from.kind == charsmapStep;
  if (!string(from.first, into.first) ||
      !textString(from.second, into.second) || (!isMap && !isUtf8(into.first)))
    return bad("a step's text ends after the texts, or is no UTF-8");
  bool needsFirst = false;
  switch (from.kind) {
  case composeStep:
    if (from.number > nfkd)
      return bad("a step has a form that Unicode lacks");
    break;
  case replaceStep:
  case decodeReplaceStep:
  case decodeStripStep:
  case decodeMetaspaceStep:
    needsFirst = true;
    break;
  case metaspaceStep:
    needsFirst = true;
    [[fallthrough]];
  case splitStep:
    if ((from.number & 0xff) > withNext)
      return bad("a step splits in a way that there is not");
    break;
  case charsmapStep:
    if (!into.charsmap.open(into.first))
      return bad("a map of characters is none");
    break;
  case lowercaseStep:
  case noMarksStep:
  case stripStep:
  case replaceAllStep:
  case prependStep:
  case bertStep:
  case cleanStep:
  case prefixSpaceStep:
  case decodeBytesStep:
  case decodeFallbackStep:
  case decodeFuseStep:
  case decodePiecesStep:
  case decodeSuffixStep:
  case decodeSpacesStep:
    break;
  default:
    return say(MILLE_TEXT_BAD_FILE,
               "the tokens file has a step %u, which this library lacks",
               from.kind);
  }
  if (needsFirst && !into.first.size)
    return bad("a step looks for an empty text");
  if (from.kind == splitStep || from.kind == replaceAllStep)
    return into.pattern.compile(into.first);
  return MILLE_TEXT_OK;
}

Status Opening::steps() {
  const char *data = nullptr;
  size_t count = 0;
  if (!items(stepTable, sizeof(Step), data, count) || count > 256)
    return bad("its steps are no list, or more than 256");
  void *memory = calloc(count ? count : 1, sizeof(ReadyStep));
  if (!memory)
    return outOfMemory();
  text.steps = static_cast<ReadyStep *>(memory); // all zero: as constructed
  text.stepCount = count;
  uint32_t before = 0;
  for (size_t i = 0; i < count; ++i) {
    Step from;
    memcpy(&from, data + i * sizeof from, sizeof from);
    // Stages of 32 numbers each follow one another.
    if (from.kind / 32 < before / 32)
      return bad("its steps are out of order");
    before = from.kind;
    if (Status status = step(from, text.steps[i]))
      return status;
  }
  return MILLE_TEXT_OK;
}

Status Opening::added() {
  const char *data = nullptr;
  size_t count = 0;
  if (!items(addedTable, sizeof(Added), data, count) || count > mostTokens)
    return bad("its added tokens are no list");
  if (!text.added.resize(count, ReadyAdded()))
    return outOfMemory();
  // Views into normalizedTexts are taken once it no longer moves.
  Array<size_t> ends;
  Matching matching;
  for (size_t i = 0; i < count; ++i) {
    Added from;
    memcpy(&from, data + i * sizeof from, sizeof from);
    ReadyAdded &into = text.added[i];
    into.id = from.id;
    into.flags = from.flags;
    if (!isId(from.id) || !textString(from.text, into.text) || !from.text.bytes)
      return bad("an added token has no id or no text");
    if (from.flags & normalized) {
      Array<char> out;
      if (Status status = normalize(text, into.text, matching, out))
        return status;
      append(text.normalizedTexts, out);
    }
    ends.push(text.normalizedTexts.size());
  }
  if (ends.lost() || text.normalizedTexts.lost())
    return outOfMemory();
  for (size_t i = 0; i < count; ++i) {
    bool later = text.added[i].flags & normalized;
    View key =
        later ? View(text.normalizedTexts).cut(i ? ends[i - 1] : 0, ends[i])
              : text.added[i].text;
    // As `tokenizers` 0.23 does, it is decoded to what was found.
    if (later && !text.has(byteLevel))
      text.tokens[text.added[i].id] = key;
    if (!(later ? text.addedNormalized : text.addedRaw).add(key, uint32_t(i)))
      return outOfMemory();
  }
  return MILLE_TEXT_OK;
}

Status Opening::bytesOfTokens() {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char *digits = "0123456789ABCDEF";
    const char spelled[6] = {
        '<', '0', 'x', digits[byte / 16], digits[byte % 16], '>'};
    char one = char(byte);
    text.byteToken[byte] = text.lookup.find(
        text.has(byteLevel) ? View(&one, 1) : View(spelled, 6));
  }
  return MILLE_TEXT_OK;
}

Status Opening::tables() {
  const char *data = nullptr;
  size_t count = 0;
  if (!items(mergeTable, sizeof(Merge), data, count))
    return bad("its merges are no list");
  const Merge *merges = reinterpret_cast<const Merge *>(data);
  for (size_t i = 0; i < count; ++i)
    if (!isId(merges[i].left) || !isId(merges[i].right) ||
        !isId(merges[i].result))
      return bad("a merge has an id that no token has");
  if (!text.lookup.build(text.tokens, text.kinds) ||
      !text.merges.build(merges, count))
    return outOfMemory();
  if (header.model == unigramModel)
    for (size_t id = 0; id < text.tokens.size(); ++id)
      if ((text.kinds[id] & reachable) &&
          !text.pieces.add(text.tokens[id], uint32_t(id)))
        return outOfMemory();
  if (header.model == wordPieceModel && text.unknown == none)
    return bad("a WordPiece vocabulary has no unknown token");
  return bytesOfTokens();
}

Status Opening::run() {
  Status (Opening::*const checks[])() = {&Opening::frame,  &Opening::tokens,
                                         &Opening::ids,    &Opening::steps,
                                         &Opening::tables, &Opening::added};
  for (auto check : checks)
    if (Status status = (this->*check)())
      return status;
  text.chat = recognizeChat(text.chatTemplate);
  return MILLE_TEXT_OK;
}

} // namespace

Status open(mille_text &text) { return Opening(text).run(); }

} // namespace mille::text

mille_text::~mille_text() {
  for (size_t i = 0; i < stepCount; ++i)
    steps[i].~ReadyStep();
  free(steps);
}
