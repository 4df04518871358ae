// A lowered kernel as code of this machine, in this process.
#pragma once
#include "compiler/emulate/Lower.h"

#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace mille::emulate {

class Code {
public:
  ~Code();
  // Null after a failure, which `problem` says.
  static std::unique_ptr<Code> make(const Lowered &lowered,
                                    std::string &problem);
  void (*entry)(void *) = nullptr;

private:
  Code();
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace mille::emulate
