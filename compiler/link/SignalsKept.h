// LLVM and lld take the signals of the process for the files they write. This
// gives them back. Must not touch signals that were not taken.
#pragma once

namespace mille::link {

// When the last of them ends, signals and their stack are handled as they were
// when the first began.
class SignalsKept {
public:
  SignalsKept();
  ~SignalsKept();
  SignalsKept(const SignalsKept &) = delete;
};

} // namespace mille::link
