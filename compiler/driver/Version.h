// The versions of Mille and of the packages that it reads.
// Must not depend on any room.
#pragma once
#include <string>

namespace mille {

// The version of the manifest NAME.json and of the ABI between code and
// runtime. The tools refuse a package of another version and name both.
constexpr int packageVersion = 3;

std::string versionText();

} // namespace mille
