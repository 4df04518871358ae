// What the two-tower families share: an image tower and a text tower of the
// same pre-norm layers, under the same names.
#pragma once
#include "compiler/import/config/ConfigImage.h"

// The layers of a tower; `mille` and `file` are string literals in front of the
// names.
#define TOWER(mille, file)                                                     \
  {mille "layers.*.attn.in_norm", file "encoder.layers.*.layer_norm1"},        \
      {mille "layers.*.attn.q", file "encoder.layers.*.self_attn.q_proj"},     \
      {mille "layers.*.attn.k", file "encoder.layers.*.self_attn.k_proj"},     \
      {mille "layers.*.attn.v", file "encoder.layers.*.self_attn.v_proj"},     \
      {mille "layers.*.attn.o", file "encoder.layers.*.self_attn.out_proj"},   \
      {mille "layers.*.ffn.in_norm", file "encoder.layers.*.layer_norm2"},     \
      {mille "layers.*.ffn.in", file "encoder.layers.*.mlp.fc1"},              \
      {mille "layers.*.ffn.out", file "encoder.layers.*.mlp.fc2"}

#define TEXT_TOWER(mille, file)                                                \
  TOWER(mille, file), {mille "embed", file "embeddings.token_embedding"},      \
      {mille "position", file "embeddings.position_embedding"},                \
      {mille "final_norm", file "final_layer_norm"}

namespace mille::import {

// What a family's towers have by default, and what they always have.
struct TowerDefaults {
  int64_t hidden, size, layers, heads, positions, vocab, imageSize, patchSize;
  double eps;
  llvm::StringRef activation;
};

// Sizes, units and final norm.
void readTextTower(Config &config, const TowerDefaults &absent,
                   transformer::Mask mask, Stack &stack);
// Sizes, units and image; gives the norm that follows the layers.
Norm readImageTower(Config &config, const TowerDefaults &absent, Stack &stack);
// One of two towers: "text." before its parameters and outputs; the vector that
// is compared is its pooler_output.
void nameTower(llvm::StringRef prefix, Stack &stack);
// The rest of a tower's keys in a configuration of two.
void finishTower(Config &config, llvm::ArrayRef<llvm::StringRef> silentKeys);
// Older configurations hold a tower's keys twice; the copy must not differ.
void checkCopy(Config &config, llvm::StringRef key, llvm::StringRef copy);

} // namespace mille::import
