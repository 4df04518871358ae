// The calls that open a vocabulary and ask about it, and the messages.
// Must not encode or decode.
#include "text/Tokenizer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

namespace mille::text {

static thread_local char message[512];

Status say(Status status, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(message, sizeof message, format, values);
  va_end(values);
  return status;
}

Status outOfMemory() {
  return say(MILLE_TEXT_OUT_OF_MEMORY, "memory was refused");
}

static Status readFile(const char *path, Array<char> &bytes) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return say(MILLE_TEXT_FILE_ERROR, "cannot read %s: %s", path,
               strerror(errno));
  Status status = MILLE_TEXT_OK;
  char buffer[1 << 14];
  while (!status) {
    size_t got = fread(buffer, 1, sizeof buffer, file);
    bytes.append(buffer, got);
    if (ferror(file))
      status = say(MILLE_TEXT_FILE_ERROR, "cannot read %s: %s", path,
                   strerror(errno));
    else if (bytes.lost())
      status = outOfMemory();
    else if (bytes.size() > mostFileBytes)
      status = say(MILLE_TEXT_BAD_FILE, "%s has more than %llu bytes", path,
                   (unsigned long long)mostFileBytes);
    else if (got < sizeof buffer)
      break;
  }
  fclose(file);
  return status;
}

// `bytes` become the vocabulary's own.
static Status make(Array<char> &bytes, mille_text **text) {
  void *memory = malloc(sizeof(mille_text));
  if (!memory)
    return outOfMemory();
  auto *made = new (Place(), memory) mille_text();
  made->bytes.swap(bytes);
  if (Status status = open(*made)) {
    mille_text_close(made);
    return status;
  }
  *text = made;
  return MILLE_TEXT_OK;
}

} // namespace mille::text

using namespace mille::text;

static Status nullPointer(const char *function) {
  return say(MILLE_TEXT_INVALID_ARGUMENT, "%s: a pointer is null", function);
}

const char *mille_text_status_name(mille_text_status status) {
  const char *const names[] = {"ok",        "invalid argument", "invalid input",
                               "too large", "out of memory",    "file error",
                               "bad file",  "unsupported"};
  return size_t(status) < sizeof names / sizeof *names ? names[status]
                                                       : "unknown status";
}

const char *mille_text_message(void) { return message; }

mille_text_status mille_text_open(const char *path, mille_text **text) {
  if (!path || !text)
    return nullPointer("mille_text_open");
  *text = nullptr;
  Array<char> bytes;
  if (Status status = readFile(path, bytes))
    return status;
  return make(bytes, text);
}

mille_text_status mille_text_open_bytes(const void *bytes, size_t size,
                                        mille_text **text) {
  if ((!bytes && size) || !text)
    return nullPointer("mille_text_open_bytes");
  *text = nullptr;
  Array<char> copy;
  copy.append(static_cast<const char *>(bytes), size);
  return copy.lost() ? outOfMemory() : make(copy, text);
}

void mille_text_close(mille_text *text) {
  if (!text)
    return;
  text->~mille_text();
  free(text);
}

mille_text_status mille_text_count(const mille_text *text, size_t *count) {
  if (!text || !count)
    return nullPointer("mille_text_count");
  *count = text->tokens.size();
  return MILLE_TEXT_OK;
}

mille_text_status mille_text_token(const mille_text *text, int32_t id,
                                   const char **bytes, size_t *size,
                                   int *isSpecial) {
  if (!text || !bytes || !size)
    return nullPointer("mille_text_token");
  if (!text->hasToken(id))
    return say(MILLE_TEXT_INVALID_INPUT,
               "id %d is no token of the vocabulary, which has %zu", id,
               text->tokens.size());
  *bytes = text->tokens[size_t(id)].data;
  *size = text->tokens[size_t(id)].size;
  if (isSpecial)
    *isSpecial = (text->kinds[id] & special) != 0;
  return MILLE_TEXT_OK;
}

mille_text_status mille_text_id(const mille_text *text, const char *bytes,
                                size_t size, int32_t *id) {
  if (!text || (!bytes && size) || !id)
    return nullPointer("mille_text_id");
  View wanted(bytes, size);
  for (const ReadyAdded &token : text->added)
    if (token.text == wanted) {
      *id = int32_t(token.id);
      return MILLE_TEXT_OK;
    }
  uint32_t found = text->lookup.find(wanted);
  if (found == none)
    return say(MILLE_TEXT_INVALID_INPUT, "'%.*s' is no token",
               int(size < 200 ? size : 200), bytes);
  *id = int32_t(found);
  return MILLE_TEXT_OK;
}

mille_text_status mille_text_role(const mille_text *text, const char *role,
                                  int32_t *id) {
  if (!text || !role || !id)
    return nullPointer("mille_text_role");
  const char *const names[roles] = {"bos",     "eos",        "unknown",
                                    "padding", "separator",  "class",
                                    "mask",    "end_of_turn"};
  for (uint32_t i = 0; i < roles; ++i) {
    if (strcmp(role, names[i]))
      continue;
    if (text->header.role[i] == none)
      return say(MILLE_TEXT_UNSUPPORTED, "the vocabulary has no %s token",
                 role);
    *id = int32_t(text->header.role[i]);
    return MILLE_TEXT_OK;
  }
  return say(MILLE_TEXT_INVALID_ARGUMENT,
             "role is '%s' but must be bos, eos, unknown, padding, separator, "
             "class, mask or end_of_turn",
             role);
}
