// Ctrl-C ends an answer but not the process, while one of these lives.
#pragma once
#include "compiler/driver/generate/Continuation.h"

namespace mille {

// At most one lives at a time.
class Interruption {
public:
  // A step of `sequence` that runs when Ctrl-C comes is cancelled.
  explicit Interruption(Continuation &sequence);
  ~Interruption();
  Interruption(const Interruption &) = delete;
  Interruption &operator=(const Interruption &) = delete;

  // Whether Ctrl-C came. A step of the sequence may not have run then.
  bool came() const;

private:
  void (*before)(int);
};

} // namespace mille
