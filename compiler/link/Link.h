// Link: objects, host code and weights become the files an application embeds.
// Every file appears whole or not at all.
#pragma once
#include "compiler/Status.h"
#include "compiler/lower/Lower.h"
#include "compiler/weights/ParameterValues.h"

namespace mille {

struct LinkInput {
  mlir::Operation *model;               // planned
  std::string imported;                 // text of NAME.mlir
  const WeightTable *table;
  ParameterValues *parameters;
  std::vector<std::pair<std::string, std::string>> kernelObjects; // name, bytes
  std::string manifest;                 // text of NAME.json
  std::string runtimeLibrary;           // the runtime's objects: libmille_runtime.a
  LowerOptions options;
};

// Writes NAME.so .a .h .weights .json .mlir into `folder`.
Status linkPackage(const LinkInput &input, llvm::StringRef folder,
                   mlir::MLIRContext &context);

} // namespace mille
