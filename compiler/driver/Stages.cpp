// The table of the pipeline's stages.
// Must not know how a stage works (Pipeline does).
#include "compiler/driver/Stages.h"

using namespace mille;

static const Rung table[] = {
    {Stage::import, "import",
     "the model is in the transformer dialect, its layers one by one", true},
    {Stage::rewrite, "rewrite",
     "scales and norms are where they cost least, and what was moved is known",
     true},
    {Stage::roll, "roll", "equal layers are one body, an index and a table",
     true},
    {Stage::fuse, "fuse", "one kernel op is one launch, on tensors", true},
    {Stage::plan, "plan", "every tensor has its place in the arena", true},
    {Stage::generate, "generate", "each distinct kernel is an object", false},
    {Stage::lower, "lower", "the host program is LLVM IR", true},
    {Stage::link, "link", "the package is on disk", false},
};

std::optional<Stage> mille::stageNamed(llvm::StringRef name) {
  for (const Rung &rung : table)
    if (rung.name == name)
      return rung.stage;
  return std::nullopt;
}

const Rung &mille::rungOf(Stage stage) {
  return table[static_cast<size_t>(stage)];
}

std::string mille::stagesThatPrint() {
  std::string names;
  for (const Rung &rung : table)
    if (rung.prints)
      names += (names.empty() ? "" : ", ") + rung.name.str();
  return names;
}
