// What a tokenizer is, whatever file says it: from here NAME.tokens is written.
// Must not know tokenizer.json or GGUF.
#pragma once
#include "text/Layout.h"

#include <array>
#include <string>
#include <vector>

namespace mille {

struct VocabularyToken {
  std::string text; // UTF-8, as the file has it
  double score = 0;
  bool present = false;
  bool reachable = false; // the model may make it from text
  bool special = false;
};

struct AddedToken {
  uint32_t id = 0;
  std::string text;
  uint32_t flags = 0; // text::addedSpecial, ...
};

struct TextStep {
  uint32_t kind = 0, number = 0, other = 0;
  std::string first, second;
};

struct Vocabulary {
  Vocabulary() { role.fill(text::none); }

  text::Model model = text::bpeModel;
  uint32_t flags = 0; // text::byteLevel, ...
  uint32_t longestWord = 0;
  std::vector<VocabularyToken> tokens; // by id
  std::vector<text::Merge> merges;
  std::vector<AddedToken> added;
  // Each list in the order in which its steps are taken.
  std::vector<TextStep> normalizers, splits, decoders;
  std::vector<uint32_t> firstIds, lastIds;
  bool typed = false; // tokens of one text have types other than 0
  std::array<uint32_t, text::roles> role;
  std::string continues, endsWord; // prefix and suffix within words
  std::string chatTemplate, bosText, eosText;
};

// The bytes of NAME.tokens. Same vocabulary, same bytes.
std::string writeTokens(const Vocabulary &vocabulary);

// What the letters of a byte-level token stand for; false where one of them
// stands for no byte.
bool bytesOfLetters(const std::string &letters, std::string &bytes);

} // namespace mille
