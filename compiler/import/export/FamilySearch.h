// Finds a Hugging Face family, and a config of it, that describes the program
// of a native spec: it reads configs as the importer does and keeps what brings
// the two programs nearer. Must not hold a table of keys.
#pragma once
#include "compiler/import/HuggingFace.h"
#include "compiler/import/export/ProgramText.h"

#include <map>

namespace mille::import {

// A config of a family and what the importer makes of it, beside the spec.
struct FamilyTrial {
  const Family *family = nullptr;
  std::map<std::string, std::string> keys; // to JSON values
  ModelSpec spec;                          // of the config
  // The native spec with the biases, norm weights and own head that the family
  // has besides: with the right numbers they change nothing.
  ModelSpec widened;
  std::vector<llvm::StringRef> asked;             // keys that the family reads
  size_t apart = 0, opsApart = 0;                 // words, and names of ops
  std::pair<std::string, std::string> difference; // words that one has
};

class FamilySearch {
public:
  // document: of the native spec, whose numbers are tried.
  FamilySearch(const ModelSpec &target, const json::Document &document,
               mlir::MLIRContext &context);

  // True if a family has the same program; `nearest` is then its trial, else
  // that of the family that comes nearest.
  bool run(FamilyTrial &nearest);

private:
  // Fails if the family refuses the config.
  std::optional<FamilyTrial> attempt(const Family &family,
                                     std::map<std::string, std::string> keys,
                                     bool allLayers);
  void tryFamily(const Family &family, llvm::StringRef architecture,
                 std::optional<FamilyTrial> &best);
  // Changes `trial` where a value of a key brings it nearer.
  void takeExtents(FamilyTrial &trial);
  void takeBest(FamilyTrial &trial, llvm::ArrayRef<std::string> values);

  const ModelSpec &target;
  mlir::MLIRContext &context;
  std::vector<std::string> words, numbers; // JSON values to try
};

// The config as a file.
std::string configText(const FamilyTrial &trial);

} // namespace mille::import
