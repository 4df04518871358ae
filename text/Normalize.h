// The steps that change a text before it is split.
// Must not split it, and must not know what a token is.
#pragma once
#include "text/Tokenizer.h"

namespace mille::text {

// Applies all steps of that kind in their order. `text` is valid UTF-8, and so
// is the text added to `out`.
Status normalize(const mille_text &tokenizer, View text, Matching &matching,
                 Array<char> &out);

// The White_Space of Unicode.
bool isSpace(uint32_t code);

} // namespace mille::text
