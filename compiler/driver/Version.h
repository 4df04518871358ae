// Which Mille this is and which packages it reads.
// Must not depend on any room.
#pragma once
#include <string>

namespace mille {

// Of the manifest NAME.json. A package of a newer version is refused by name.
constexpr int packageVersion = 1;

std::string versionText();

} // namespace mille
