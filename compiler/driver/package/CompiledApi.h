// The C functions of a package's own runtime, as pointers.
// Must not be included outside of Compiled*.cpp.
#pragma once
#include "compiler/driver/package/Compiled.h"

namespace mille {

// "[2, 17]"
inline std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

// The library brings its own copy of the runtime, so these are looked up in it.
struct Compiled::Functions {
#define MILLE_FUNCTIONS(X)                                                     \
  X(mille_package_open)                                                        \
  X(mille_package_close)                                                       \
  X(mille_package_message)                                                     \
  X(mille_package_entry)                                                       \
  X(mille_package_find_entry)                                                  \
  X(mille_package_entry_input)                                                 \
  X(mille_package_entry_output)                                                \
  X(mille_package_state_count)                                                 \
  X(mille_package_state)                                                       \
  X(mille_package_isa)                                                         \
  X(mille_session_create_on)                                                   \
  X(mille_session_close)                                                       \
  X(mille_session_keep_padding)                                                \
  X(mille_session_run_entry)                                                   \
  X(mille_session_state_bytes)                                                 \
  X(mille_session_read_state)                                                  \
  X(mille_session_write_state)                                                 \
  X(mille_session_message)                                                     \
  X(mille_session_memory)                                                      \
  X(mille_session_profile)                                                     \
  X(mille_session_kernel_count)                                                \
  X(mille_session_kernel)                                                      \
  X(mille_session_measure_device)
#define DECLARE(name) decltype(&::name) name = nullptr;
  MILLE_FUNCTIONS(DECLARE)
#undef DECLARE
  const ::mille_model *(*model)() = nullptr;
};

} // namespace mille
