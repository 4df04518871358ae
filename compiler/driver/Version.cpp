// The versions of Mille and of the packages that it reads.
// Must not depend on any room.
#include "compiler/driver/Version.h"

#include "runtime/abi.h"
#include "llvm/Config/llvm-config.h"

std::string mille::versionText() {
  return "mille " MILLE_VERSION "\nreads packages of version " +
         std::to_string(packageVersion) + " (weights " +
         std::to_string(MILLE_WEIGHTS_VERSION) + ", interface " +
         std::to_string(MILLE_ABI_VERSION) +
         ")\nbuilt with LLVM " LLVM_VERSION_STRING;
}
