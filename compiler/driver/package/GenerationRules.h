// How the decoder of a model with an encoder continues, as the model's folder
// says. Must not run a model.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <vector>

namespace mille {

namespace json {
struct Value;
}

struct GenerationRules {
  std::optional<int64_t> start;       // the id that the decoder begins with
  std::optional<int64_t> first, last; // the only id that may come there
  std::vector<int32_t> ends;          // ids that end an answer
  std::vector<int32_t> banned, bannedFirst;
  int64_t least = 0;    // ids before an end
  int64_t noRepeat = 0; // no so many ids come twice; 0: they may
  int64_t beams = 1;
  double lengthPenalty = 1;
  std::string stop = "likely"; // or early, never: when beams stop
};

// The most beams that a search has.
constexpr int64_t mostBeams = 8;

// Reads generation_config.json, or config.json where that is missing. Nothing
// if both are. Says in a warning which rules are not followed.
Status readGenerationRules(llvm::StringRef folder, mlir::MLIRContext &context,
                           std::optional<GenerationRules> &rules);

// The rules as the object `generation` of a manifest, and of one whose keys
// were checked.
void writeRules(llvm::json::OStream &json, const GenerationRules &rules);
GenerationRules rulesIn(const json::Value &object);

} // namespace mille
