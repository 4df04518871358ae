// A pattern of PCRE2, compiled once and matched in many threads.
// Must not be given a text that is no UTF-8.
#pragma once
#include "text/Bytes.h"
#include "text/Message.h"

extern "C" {
struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
}

namespace mille::text {

class Pattern {
public:
  Pattern() = default;
  Pattern(const Pattern &) = delete;
  ~Pattern();
  Status compile(View source);
  bool compiled() const { return code != nullptr; }

private:
  friend class Matching;
  pcre2_real_code_8 *code = nullptr;
  bool translated = false; // to machine code
};

// Memory that one call uses to match any pattern.
class Matching {
public:
  Matching() = default;
  Matching(const Matching &) = delete;
  ~Matching();
  // The first match of `pattern` in `text` from `at` on. *found is false where
  // there is none.
  Status find(const Pattern &pattern, View text, size_t at, bool &found,
              size_t &begin, size_t &end);

private:
  pcre2_real_match_data_8 *data = nullptr;
  pcre2_real_match_context_8 *limits = nullptr;
};

// The matches of a pattern in a text, one after the other. An empty match that
// touches the match before it does not count.
class Matches {
public:
  Matches(Matching &matching, const Pattern &pattern, View text)
      : matching(matching), pattern(pattern), text(text) {}
  // False at the end, and where `status` is not ok.
  bool next(size_t &begin, size_t &end, Status &status);

private:
  Matching &matching;
  const Pattern &pattern;
  View text;
  size_t at = 0, last = SIZE_MAX;
};

} // namespace mille::text
