// SentencePiece's precompiled map of characters: a double array of beginnings,
// and the texts that they become. Must not trust any number in it.
#pragma once
#include "text/Bytes.h"

namespace mille::text {

class Charsmap {
public:
  // Returns false if `blob` is no such map. `blob` must outlive this object.
  bool open(View blob);
  // What `text` becomes, as a whole: the text of its shortest beginning that is
  // in the map. False where none is.
  bool find(View text, View &becomes) const;
  // `text`, grapheme by grapheme.
  void apply(View text, Array<char> &out) const;

private:
  bool unit(uint64_t at, uint32_t &value) const;
  void applyTo(View grapheme, Array<char> &out) const;
  View units, texts;
};

} // namespace mille::text
