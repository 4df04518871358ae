// Reads native specs: models as JSON with the keys of SpecKeys.h.
#pragma once
#include "compiler/import/schemes/Recipe.h"
#include "compiler/import/spec/SpecFields.h"

namespace mille::import {

struct InitRecipe {
  Scheme scheme;
  uint64_t seed;
  mlir::LocationAttr at;
};

// Fills `spec`; every independent error goes to `problems`.
void readSpec(const json::Document &document, ModelSpec &spec,
              std::optional<InitRecipe> &init, Problems &problems,
              mlir::MLIRContext &context);

// The layers of both stacks of an encoder-decoder, for formulas; 0 if there is
// only one stack.
struct Depths {
  int64_t encoder = 0, decoder = 0;
};

// The parts of a spec, each in the file of its name.
Norm readNorm(SpecFields fields);          // SpecUnit.cpp
Training readTraining(SpecFields &fields); // SpecTraining.cpp
Unit readUnit(SpecFields &fields, const Stack &stack, const Depths &depths);
// `self` is the object that the fields are of.
Branch readBranch(SpecFields &fields, const json::Value &self,
                  const Stack &stack); // SpecBranch.cpp
Attention readAttention(SpecFields &fields,
                        const Stack &stack);              // SpecAttention.cpp
Rope readRope(SpecFields &fields, const Extent &headDim); // SpecRope.cpp
FeedForward readFeedForward(SpecFields &fields);          // SpecFeedForward.cpp

} // namespace mille::import
