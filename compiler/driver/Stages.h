// The stages of the pipeline: their names, and a sentence for each.
// Must not know how a stage works (Pipeline does).
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mille {

enum class Stage { import, rewrite, roll, fuse, plan, generate, lower, link };

struct Rung {
  Stage stage;
  llvm::StringRef name;
  llvm::StringRef sentence; // what holds after it
  bool prints;              // --stop-after prints its IR
};

std::optional<Stage> stageNamed(llvm::StringRef name);
const Rung &rungOf(Stage stage);

// "import, roll, ...": the stages --stop-after takes.
std::string stagesThatPrint();

} // namespace mille
