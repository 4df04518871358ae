// Turns the tokenizer of a GGUF, given as plain values, into a vocabulary.
// Must not read a file: the reader of GGUF files fills the values.
#pragma once
#include "compiler/text/Vocabulary.h"

#include <map>

namespace mille {

// Keys without their prefix `tokenizer.ggml.`; what a file lacks stays empty.
struct GgufTokenizer {
  std::string model, pre; // "gpt2", "llama-bpe"
  std::vector<std::string> tokens, merges;
  std::vector<float> scores;
  std::vector<int32_t> tokenTypes;    // token_type
  std::map<std::string, int64_t> ids; // "bos_token_id", ...
  std::map<std::string, bool> flags;  // "add_bos_token", ...
  std::string precompiledCharsmap;    // bytes
  std::string chatTemplate;           // tokenizer.chat_template
};

// False, with a sentence in `why`, if the tokenizer is not supported or its
// values contradict each other.
bool readGgufTokenizer(const GgufTokenizer &gguf, Vocabulary &vocabulary,
                       std::string &why);

// The patterns by which a `tokenizer.ggml.pre` splits, one after the other;
// nothing if the name is unknown.
struct GgufSplit {
  const char *names; // one or more, a space between two
  const char *patterns[6];
  bool wholeWordFirst, beginsWithBos; // unless add_bos_token says otherwise
};
const GgufSplit *findGgufSplit(const std::string &pre);
std::string ggufSplitNames();

} // namespace mille
