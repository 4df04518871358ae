// Decodes ids to text, one at a time. Must not give half a character.
#pragma once
#include "text/Tokenizer.h"

namespace mille::text {

class Decoder {
public:
  Decoder(const mille_text &tokenizer, int flags, bool streams);
  ~Decoder();
  Decoder(const Decoder &) = delete;

  Status open(); // must be called before the first id
  // Appends the characters that the id completes.
  Status push(int64_t id, Array<char> &out);
  // Appends all bytes that still wait, and resets the decoder.
  Status finish(Array<char> &out);

private:
  struct State {
    size_t seen; // tokens that reached the step
    size_t left; // characters still to strip, or a space that waits
  };
  Status run(size_t step, View token, Array<char> &out);
  Status fallBack(size_t step, View token, Array<char> &out);
  Status flushBytes(Array<char> &out, bool ends);
  void write(View text, Array<char> &out);
  View strip(const ReadyStep &step, State &state, View token);
  void pieces(const ReadyStep &step, State &state, View token,
              Array<char> &out);
  void suffix(const ReadyStep &step, State &state, View token,
              Array<char> &out);
  void begin();

  const mille_text &tokenizer;
  const int flags;
  const bool streams; // gives a character once its last byte token is there
  State *states = nullptr;
  size_t firstStep = 0, afterBytes = 0; // the step after decodeFallbackStep
  bool fused = false;
  Array<char> bytes;   // bytes of byte tokens whose run has not ended
  Array<char> waiting; // the beginning of a character
};

} // namespace mille::text
