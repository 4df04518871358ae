// The instructions that an emulated kernel calls the machine for.
#pragma once
#include <string>

namespace mille::emulate {

// What may be left out to see whether the emulator notices.
enum class Guard { none, wait, release, fence, barrier };

struct Place {
  std::string op;    // its name
  std::string where; // FILE:LINE
  Guard guard = Guard::none;
  unsigned number = 0;  // among those of its kind, in the order of the text
  std::string harmless; // why nothing is seen where it is left out
};

const char *guardName(Guard guard);

} // namespace mille::emulate
