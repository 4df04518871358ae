// The program of a model as text in which parameters have numbers in place of
// names, so that programs of two importers can be compared.
#pragma once
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mille::import {

struct ProgramText {
  explicit ProgramText(mlir::ModuleOp module);

  std::string text;                    // of the first entry, a line to an op
  std::vector<std::string> parameters; // in the order of their first use
};

// How many words one text has that the other has not; 0: equal but for their
// order. `opsOnly`: counts the names of ops.
size_t wordsApart(const ProgramText &a, const ProgramText &b, bool opsOnly);

// Some words that `a` has more often than `b`, for messages.
std::string wordsBeyond(const ProgramText &a, const ProgramText &b);

} // namespace mille::import
