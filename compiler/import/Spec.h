// Native specs: a model as JSON in Mille's own vocabulary.
#pragma once
#include "compiler/import/Fields.h"
#include "compiler/import/Recipe.h"

namespace mille::import {

struct InitRecipe {
  Scheme scheme;
  uint64_t seed;
};

// Fills `spec`; every independent error goes to `problems`.
void readSpec(const json::Document &document, ModelSpec &spec,
              std::optional<InitRecipe> &init, Problems &problems,
              mlir::MLIRContext &context);

// Slopes of ALiBi for any number of heads.
std::vector<double> alibiSlopes(int64_t heads);

// A branch of a native spec; SpecBranch.cpp.
Branch readBranch(Fields &fields, const ModelSpec &spec, Problems &problems,
                  mlir::MLIRContext &context);

// A key of the schema that Mille does not do: an error where it asks for
// something (not null or false).
void notYet(Fields &fields, llvm::StringRef key);

} // namespace mille::import
