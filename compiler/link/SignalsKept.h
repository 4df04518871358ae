// Restores the signal handlers of the process, which LLVM and lld replace while
// they write files. Must not touch handlers that they did not replace.
#pragma once

namespace mille::link {

// When the last such object dies, signals are handled, and on the same stack,
// as they were when the first was made.
class SignalsKept {
public:
  SignalsKept();
  ~SignalsKept();
  SignalsKept(const SignalsKept &) = delete;
};

} // namespace mille::link
