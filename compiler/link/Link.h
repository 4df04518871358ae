// Links objects, host code and weights into the files that an application
// embeds. Must leave each file whole or absent.
#pragma once
#include "compiler/Status.h"
#include "compiler/weights/ParameterValues.h"
#include "compiler/weights/WeightTable.h"

#include <functional>
#include <string>

namespace mille {

// Facts of a package that are known after its weights are written and its code
// is linked.
struct PackageFacts {
  WeightsFile weights;
  uint64_t codeBytes = 0; // loaded bytes of NAME.so without weights
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
  bool withoutWeights = false; // no .weights: their sizes are known, no number
  // Makes the host program's object (lowerProgram, emitObject). Called after
  // the weights are written, since the object holds their size and hash.
  std::function<Status(const PackageFacts &, std::string &object)> hostObject;
  // Makes the text of NAME.json.
  std::function<std::string(const PackageFacts &)> manifest;
};

// Writes NAME.so .a .h .json .mlir and, if there are any, .weights and .tokens
// into `folder`, and makes the folder if it is missing. After a failure no file
// of the package is left.
Status linkPackage(const LinkInput &input, llvm::StringRef folder);

} // namespace mille
