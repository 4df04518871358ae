// PCRE2 with limits, as a file's pattern cannot be trusted.
// Must not decide how texts are split.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/Pattern.h"

#include <pcre2.h>

namespace mille::text {

constexpr size_t longestPattern = 1 << 16;
// Far more than a splitting pattern needs; a match that runs away ends.
constexpr uint32_t mostSteps = 10000000;

static const char *asChars(PCRE2_UCHAR *text) {
  return reinterpret_cast<const char *>(text);
}

Status Pattern::compile(View source) {
  int error = 0;
  PCRE2_SIZE where = 0;
  if (source.size > longestPattern)
    return say(MILLE_TEXT_BAD_FILE,
               "a pattern has %zu bytes but may have at most %zu", source.size,
               longestPattern);
  code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(source.data), source.size,
                       PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                           PCRE2_NEVER_BACKSLASH_C,
                       &error, &where, nullptr);
  if (!code) {
    PCRE2_UCHAR why[160];
    pcre2_get_error_message(error, why, sizeof why);
    return say(error == PCRE2_ERROR_HEAP_FAILED ? MILLE_TEXT_OUT_OF_MEMORY
                                                : MILLE_TEXT_BAD_FILE,
               "pattern '%.*s' is wrong at character %zu: %s",
               int(source.size < 200 ? source.size : 200), source.data,
               size_t(where) + 1, asChars(why));
  }
  // Not every machine lets code be made; the interpreter finds the same.
  translated = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
  return MILLE_TEXT_OK;
}

Pattern::~Pattern() { pcre2_code_free(code); }

Matching::~Matching() {
  pcre2_match_data_free(data);
  pcre2_match_context_free(limits);
}

Status Matching::find(const Pattern &pattern, View text, size_t at, bool &found,
                      size_t &begin, size_t &end) {
  if (!data) {
    data = pcre2_match_data_create(32, nullptr);
    limits = pcre2_match_context_create(nullptr);
    if (!data || !limits)
      return outOfMemory();
    pcre2_set_match_limit(limits, mostSteps);
    pcre2_set_depth_limit(limits, mostSteps);
    pcre2_set_heap_limit(limits, 1 << 16); // kilobytes
  }
  PCRE2_SPTR subject = reinterpret_cast<PCRE2_SPTR>(text.data);
  int result = pattern.translated
                   ? pcre2_jit_match(pattern.code, subject, text.size, at, 0,
                                     data, limits)
                   : PCRE2_ERROR_JIT_STACKLIMIT;
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) // the interpreter uses the heap
    result = pcre2_match(pattern.code, subject, text.size, at,
                         PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, limits);
  found = result >= 0;
  if (found) {
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
    begin = ends[0];
    end = ends[1];
    // \K can put the beginning behind the end, or before the last match.
    if (begin < at || end < begin)
      return say(MILLE_TEXT_UNSUPPORTED, "a pattern moves back in the text");
    return MILLE_TEXT_OK;
  }
  if (result == PCRE2_ERROR_NOMATCH)
    return MILLE_TEXT_OK;
  if (result == PCRE2_ERROR_NOMEMORY)
    return outOfMemory();
  PCRE2_UCHAR why[160];
  pcre2_get_error_message(result, why, sizeof why);
  return say(MILLE_TEXT_UNSUPPORTED, "a pattern does not match at byte %zu: %s",
             at, asChars(why));
}

bool Matches::next(size_t &begin, size_t &end, Status &status) {
  while (at <= text.size) {
    bool found = false;
    status = matching.find(pattern, text, at, found, begin, end);
    if (status || !found)
      return false;
    if (begin == end && end == last) {
      at += at < text.size ? bytesOf(text.data[at]) : 1;
      continue;
    }
    at = last = end;
    return true;
  }
  return false;
}

} // namespace mille::text
