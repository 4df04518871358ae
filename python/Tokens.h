// A package's NAME.tokens: ids of texts. Must not answer where the package
// `tokenizers` may answer something else.
#pragma once
#include "Module.h"
#include "text/mille_text.h"
#include <string_view>

namespace mille_python {

class Tokens {
public:
  explicit Tokens(const nb::object &path);
  ~Tokens() { mille_text_close(text); }
  Tokens(const Tokens &) = delete;

  // Of each text a list of at most `most` ids, with its ends; or None, where
  // `tokenizers` has to read it: it has characters that the two may know of
  // different versions of Unicode, or this room cannot read it.
  nb::list encode(const nb::list &texts, size_t most) const;
  size_t ends() const { return before + after; }

private:
  mille_text_status encodeOne(std::string_view bytes, size_t most,
                              std::vector<int32_t> &ids) const;

  mille_text *text = nullptr;
  size_t before = 0, after = 0; // ids that each text gets
};

// The hash of a file, as NAME.json has it of a tokenizer.json.
std::string hashOfFile(const nb::object &path);

} // namespace mille_python
