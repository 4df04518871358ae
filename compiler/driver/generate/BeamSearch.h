// What a search for the likeliest answer is, of options and a model's rules.
// Must not run a model.
#pragma once
#include "compiler/driver/Options.h"
#include "compiler/driver/package/GenerationRules.h"
#include "generation/mille_generation.h"

namespace mille {

// Whether the answer is searched for, and not drawn. rules: null for a decoder
// alone.
bool searches(const GenerateOptions &options, const GenerationRules *rules);

// How many beams search.
int64_t beamsOf(const GenerateOptions &options, const GenerationRules *rules);

// The search for at most `most` ids, which `ends` end. Points into `rules` and
// `ends`.
mille_beams beamSearch(const GenerateOptions &options,
                       const GenerationRules *rules, int64_t most,
                       llvm::ArrayRef<int32_t> ends);

} // namespace mille
