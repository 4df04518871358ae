// What ViT and DeiT share: their stack, its pooler and its tensors.
#pragma once
#include "compiler/import/config/ConfigImage.h"

// The names of their tensors behind `base`.
#define VIT_LAYER(base) base "encoder.layer.*."
#define VIT_TENSORS(base)                                                      \
  {"class", base "embeddings.cls_token"},                                      \
      {"position.weight", base "embeddings.position_embeddings"},              \
      {"patch", base "embeddings.patch_embeddings.projection"},                \
      {"layers.*.attn.in_norm", VIT_LAYER(base) "layernorm_before"},           \
      {"layers.*.attn.q", VIT_LAYER(base) "attention.attention.query"},        \
      {"layers.*.attn.k", VIT_LAYER(base) "attention.attention.key"},          \
      {"layers.*.attn.v", VIT_LAYER(base) "attention.attention.value"},        \
      {"layers.*.attn.o", VIT_LAYER(base) "attention.output.dense"},           \
      {"layers.*.ffn.in_norm", VIT_LAYER(base) "layernorm_after"},             \
      {"layers.*.ffn.in", VIT_LAYER(base) "intermediate.dense"},               \
      {"layers.*.ffn.out", VIT_LAYER(base) "output.dense"},                    \
      {"final_norm", base "layernorm"}, {"pooler", base "pooler.dense"},       \
      {"classifier", "classifier"}

namespace mille::import {

// Pre-norm units over patches with learned positions, behind the CLS token.
void describeVitStack(Config &config, ModelSpec &model);

// The pooler that a base model may have.
Pooling vitPooling(Config &config, const ModelSpec &model);

} // namespace mille::import
