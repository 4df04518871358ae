// The decoders of `tokenizers` as a chain through which each token goes.
// Must not hold back more than an incomplete character.
#include "text/Decode.h"

namespace mille::text {

Decoder::Decoder(const mille_text &tokenizer, int flags, bool streams)
    : tokenizer(tokenizer), flags(flags), streams(streams) {
  while (firstStep < tokenizer.stepCount &&
         tokenizer.steps[firstStep].kind < decodeBytesStep)
    ++firstStep;
}

Decoder::~Decoder() { free(states); }

Status Decoder::open() {
  states = static_cast<State *>(calloc(tokenizer.stepCount + 1, sizeof(State)));
  if (!states)
    return outOfMemory();
  begin();
  return MILLE_TEXT_OK;
}

void Decoder::begin() {
  for (size_t i = 0; i < tokenizer.stepCount; ++i)
    states[i] = {0, tokenizer.steps[i].number};
  fused = false;
  bytes.clear();
  waiting.clear();
}

Status Decoder::push(int64_t id, Array<char> &out) {
  if (!tokenizer.hasToken(id))
    return say(MILLE_TEXT_INVALID_INPUT,
               "id %lld is no token of the vocabulary, which has %zu",
               (long long)id, tokenizer.tokens.size());
  if (!(flags & MILLE_TEXT_SPECIAL) && (tokenizer.kinds[id] & special))
    return MILLE_TEXT_OK;
  fused = false;
  Status status = run(firstStep, tokenizer.tokens[size_t(id)], out);
  return status ? status : out.lost() ? outOfMemory() : MILLE_TEXT_OK;
}

Status Decoder::finish(Array<char> &out) {
  if (Status status = flushBytes(out, /*ends=*/true))
    return status;
  appendRepaired(out, waiting);
  begin();
  return out.lost() ? outOfMemory() : MILLE_TEXT_OK;
}

// Writes the whole characters of the bytes so far, and U+FFFD for bytes that
// are no character.
void Decoder::write(View text, Array<char> &out) {
  append(waiting, text);
  size_t at = 0;
  View all(waiting);
  while (at < all.size) {
    Character next = characterAt(all, at);
    if (next.cut)
      break;
    append(out,
           next.whole ? all.cut(at, at + next.bytes) : View("\xef\xbf\xbd", 3));
    at += next.bytes;
  }
  if (at) {
    memmove(waiting.data(), waiting.data() + at, waiting.size() - at);
    waiting.shrink(waiting.size() - at);
  }
}

static unsigned digitOf(char c) {
  return c >= '0' && c <= '9'   ? unsigned(c - '0')
         : c >= 'A' && c <= 'F' ? unsigned(c - 'A') + 10
         : c >= 'a' && c <= 'f' ? unsigned(c - 'a') + 10
                                : 16;
}

// Byte tokens wait for the end of their run. A stream gives whole characters at
// once; they are right unless a later byte of the run is wrong.
Status Decoder::fallBack(size_t step, View token, Array<char> &out) {
  afterBytes = step + 1;
  if (token.size == 6 && token.startsWith({"<0x", 3}) && token.data[5] == '>') {
    unsigned high = digitOf(token.data[3]), low = digitOf(token.data[4]);
    if (high < 16 && low < 16) {
      bytes.push(char(high * 16 + low));
      return streams ? flushBytes(out, /*ends=*/false) : MILLE_TEXT_OK;
    }
  }
  if (Status status = flushBytes(out, /*ends=*/true))
    return status;
  return run(step + 1, token, out);
}

Status Decoder::flushBytes(Array<char> &out, bool ends) {
  if (bytes.empty())
    return MILLE_TEXT_OK;
  Array<char> held;
  if (streams) {
    size_t at = 0;
    View all(bytes);
    while (at < all.size) {
      Character next = characterAt(all, at);
      if (next.cut && !ends)
        break;
      for (unsigned i = 0; !next.whole && i < next.bytes; ++i)
        append(held, {"\xef\xbf\xbd", 3}); // one for each byte
      append(held, {all.data + at, next.whole ? next.bytes : 0});
      at += next.bytes;
    }
    memmove(bytes.data(), bytes.data() + at, bytes.size() - at);
    bytes.shrink(bytes.size() - at);
  } else {
    bool good = isUtf8(bytes);
    append(held, {bytes.data(), good ? bytes.size() : 0});
    for (size_t i = 0; !good && i < bytes.size(); ++i)
      append(held, {"\xef\xbf\xbd", 3});
    bytes.clear();
  }
  if (held.lost())
    return outOfMemory();
  return held.empty() ? MILLE_TEXT_OK : run(afterBytes, held, out);
}

// `number` characters at the start and `other` at the end, where they are the
// step's own. After a fuse the start is that of the whole text.
View Decoder::strip(const ReadyStep &step, State &state, View token) {
  if (!fused)
    state.left = step.number;
  while (state.left && token.startsWith(step.first)) {
    token = token.from(step.first.size);
    --state.left;
  }
  if (token.size && fused)
    state.left = 0;
  for (uint32_t i = 0; !fused && i < step.other; ++i) {
    if (token.size < step.first.size ||
        !(token.from(token.size - step.first.size) == step.first))
      break;
    token.size -= step.first.size;
  }
  return token;
}

static void replaceIn(Array<char> &text, const char *what, const char *by) {
  View from(what, strlen(what)), to(by, strlen(by));
  Array<char> out;
  size_t at = 0;
  for (size_t found; (found = View(text).find(from, at)) != SIZE_MAX;) {
    append(out, View(text).cut(at, found));
    append(out, to);
    at = found + from.size;
  }
  append(out, View(text).from(at));
  text.swap(out);
}

// A token that does not continue a word has a space before it. Cleaning up is
// what BERT's tokenizer does to English.
void Decoder::pieces(const ReadyStep &step, State &state, View token,
                     Array<char> &out) {
  if (state.seen) {
    bool continues = token.startsWith(step.first) && step.first.size;
    if (continues)
      token = token.from(step.first.size);
    else
      out.push(' ');
  }
  append(out, token);
  const char *const rules[][2] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  if (step.number)
    for (const auto &rule : rules)
      replaceIn(out, rule[0], rule[1]);
}

// The end of a word is a space, but not at the end of the text: it waits for
// the next token.
void Decoder::suffix(const ReadyStep &step, State &state, View token,
                     Array<char> &out) {
  if (state.left)
    out.push(' ');
  bool ends = step.first.size && token.size >= step.first.size &&
              token.from(token.size - step.first.size) == step.first;
  token.size -= ends ? step.first.size : 0;
  state.left = ends;
  append(out, token);
}

Status Decoder::run(size_t at, View token, Array<char> &out) {
  if (at == tokenizer.stepCount) {
    write(token, out);
    return waiting.lost() || out.lost() ? outOfMemory() : MILLE_TEXT_OK;
  }
  const ReadyStep &step = tokenizer.steps[at];
  State &state = states[at];
  Array<char> made;
  bool remade = true;
  switch (step.kind) {
  case decodeFallbackStep:
    return fallBack(at, token, out);
  case decodeFuseStep:
    fused = true;
    remade = false;
    break;
  case decodeStripStep:
    token = strip(step, state, token);
    remade = false;
    break;
  case decodePiecesStep:
    pieces(step, state, token, made);
    break;
  case decodeSpacesStep:
    if (state.seen)
      made.push(' ');
    append(made, token);
    break;
  case decodeSuffixStep:
    suffix(step, state, token, made);
    break;
  case decodeReplaceStep:
  case decodeMetaspaceStep: {
    bool drops =
        step.kind == decodeMetaspaceStep && !state.seen && step.number != never;
    View by =
        step.kind == decodeReplaceStep ? step.second : View(" ", drops ? 0 : 1);
    size_t from = 0;
    for (size_t found; (found = token.find(step.first, from)) != SIZE_MAX;) {
      append(made, token.cut(from, found));
      append(made, by);
      from = found + step.first.size;
    }
    append(made, token.from(from));
    break;
  }
  default: // bytes: the token is what it stands for
    remade = false;
  }
  ++state.seen;
  if (made.lost())
    return outOfMemory();
  return run(at + 1, remade ? View(made) : token, out);
}

} // namespace mille::text

using namespace mille::text;

mille_text_status mille_text_decode(const mille_text *text, const int32_t *ids,
                                    size_t count, int flags, char *bytes,
                                    size_t room, size_t *size) {
  if (!text || (!ids && count) || (!bytes && room) || !size ||
      (flags & ~MILLE_TEXT_SPECIAL))
    return say(MILLE_TEXT_INVALID_ARGUMENT,
               "mille_text_decode: a pointer is null or a flag is unknown");
  *size = 0;
  Array<char> out;
  Decoder decoder(*text, flags, /*streams=*/false);
  if (Status status = decoder.open())
    return status;
  for (size_t i = 0; i < count; ++i)
    if (Status status = decoder.push(ids[i], out))
      return status;
  if (Status status = decoder.finish(out))
    return status;
  *size = out.size();
  if (size_t most = out.size() < room ? out.size() : room)
    memcpy(bytes, out.data(), most);
  return MILLE_TEXT_OK;
}

struct mille_text_stream {
  mille_text_stream(const mille_text &text, int flags)
      : decoder(text, flags, /*streams=*/true) {}
  Decoder decoder;
  Array<char> out;
};

mille_text_status mille_text_stream_create(const mille_text *text, int flags,
                                           mille_text_stream **stream) {
  if (!text || !stream || (flags & ~MILLE_TEXT_SPECIAL))
    return say(MILLE_TEXT_INVALID_ARGUMENT,
               "mille_text_stream_create: a pointer is null or a flag is "
               "unknown");
  *stream = nullptr;
  void *memory = malloc(sizeof(mille_text_stream));
  if (!memory)
    return outOfMemory();
  auto *made = new (Place(), memory) mille_text_stream(*text, flags);
  if (Status status = made->decoder.open()) {
    mille_text_stream_close(made);
    return status;
  }
  *stream = made;
  return MILLE_TEXT_OK;
}

mille_text_status mille_text_stream_push(mille_text_stream *stream, int32_t id,
                                         const char **bytes, size_t *size) {
  if (!stream || !bytes || !size)
    return say(MILLE_TEXT_INVALID_ARGUMENT,
               "mille_text_stream_push: a pointer is null");
  stream->out.clear();
  Status status = stream->decoder.push(id, stream->out);
  *bytes = stream->out.data();
  *size = status ? 0 : stream->out.size();
  return status;
}

mille_text_status mille_text_stream_finish(mille_text_stream *stream,
                                           const char **bytes, size_t *size) {
  if (!stream || !bytes || !size)
    return say(MILLE_TEXT_INVALID_ARGUMENT,
               "mille_text_stream_finish: a pointer is null");
  stream->out.clear();
  Status status = stream->decoder.finish(stream->out);
  *bytes = stream->out.data();
  *size = status ? 0 : stream->out.size();
  return status;
}

void mille_text_stream_close(mille_text_stream *stream) {
  if (!stream)
    return;
  stream->~mille_text_stream();
  free(stream);
}
