// Ids to text, one at a time. Must not give half a character.
#pragma once
#include "text/Tokenizer.h"

namespace mille::text {

class Decoder {
public:
  Decoder(const mille_text &tokenizer, int flags, bool streams);
  ~Decoder();
  Decoder(const Decoder &) = delete;

  Status open(); // before the first id
  // Appends what the id makes whole.
  Status push(int64_t id, Array<char> &out);
  // Appends what still waits, and begins anew.
  Status finish(Array<char> &out);

private:
  struct State {
    size_t seen; // tokens that reached the step
    size_t left; // characters to strip yet, or a space that waits
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
  const bool streams; // characters of byte tokens come as soon as they can
  State *states = nullptr;
  size_t firstStep = 0, afterBytes = 0; // the step after decodeFallbackStep
  bool fused = false;
  Array<char> bytes;   // of byte tokens, which wait
  Array<char> waiting; // the beginning of a character
};

} // namespace mille::text
