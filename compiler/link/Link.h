// Link: objects, host code and weights become the files an application embeds.
// Every file appears whole or not at all.
#pragma once
#include "compiler/Status.h"
#include "compiler/weights/ParameterValues.h"
#include "compiler/weights/WeightTable.h"

#include <functional>
#include <string>

namespace mille {

// What is known of a package once its weights are written and its code linked.
struct PackageFacts {
  uint64_t weightsBytes = 0, weightsHash = 0;
  uint64_t tableHash = 0; // of the weights file up to its tensors
  uint64_t codeBytes = 0; // loaded bytes of NAME.so less weights
};

struct LinkInput {
  mlir::Operation *model; // holds the planned `forward`
  std::string name;
  std::string imported; // text of NAME.mlir
  std::string tokens;   // bytes of NAME.tokens; empty: the package has none
  const WeightTable *table;
  ParameterValues *parameters;
  std::vector<std::pair<std::string, std::string>> kernelObjects; // name, bytes
  std::string runtimeLibrary; // libmille.a: the runtime's objects
  bool embedWeights = false;
  // The host program's object (lowerProgram, emitObject), asked for once the
  // weights are written: it holds their size and hash.
  std::function<Status(const PackageFacts &, std::string &object)> hostObject;
  // The text of NAME.json.
  std::function<std::string(const PackageFacts &)> manifest;
};

// Writes NAME.so .a .h .weights .json .mlir and, where there are any, .tokens
// into `folder`, which is made if need be. What fails leaves no file of the
// package and none half written.
Status linkPackage(const LinkInput &input, llvm::StringRef folder);

} // namespace mille
