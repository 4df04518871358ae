// The keys of BART's configuration class, which other encoder-decoders have
// too.
#pragma once
#include "compiler/import/families/Families.h"

namespace mille::import {

// What a class takes where a config says nothing.
struct BartDefaults {
  int64_t layers, width, heads, size, vocab, positions;
  llvm::StringRef activation;
  bool scaled;    // words times sqrt(d_model)
  bool preNorm;   // else post-norm
  bool embedNorm; // after the embeddings
};

// Both stacks: model.before[0] is the encoder, the model itself the decoder.
// Positions and the head are the caller's.
void readBart(Config &config, ModelSpec &model, const BartDefaults &defaults);

// One position table for each stack, after the words' sizes are read.
void learnPositions(Config &config, ModelSpec &model, llvm::StringRef key,
                    int64_t usual, int64_t offset);
// The head on the words' table or an own one, with the bias if the files hold
// it.
void addLogits(Config &config, ModelSpec &model, llvm::StringRef bias);

extern const llvm::ArrayRef<TensorName> bartTensors;
extern const llvm::ArrayRef<llvm::StringRef> bartOtherTensors, bartSilentKeys;

} // namespace mille::import
