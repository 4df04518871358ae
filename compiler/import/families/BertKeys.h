// The keys of BERT's configuration class, which its relatives have too.
#pragma once
#include "compiler/import/families/Families.h"

namespace mille::import {

// What a class takes where a config says nothing.
struct BertDefaults {
  int64_t layers, hidden, heads, size, vocab, positions, tokenTypes;
  llvm::StringRef activation;
  double eps;
};

struct BertParts {
  Norm norm;
  Attention attention;
  FeedForward feedForward;
};

// Sizes, tables, and the parts of a layer: every linear with a bias, no mask
// but padding. The caller puts the units together.
BertParts readBert(Config &config, ModelSpec &model,
                   const BertDefaults &defaults);

// Position of a token: the id's count among those that are not padding, after
// the padding's own row.
void countPositions(Config &config, ModelSpec &model, int64_t usualPadding);

// A pooler where the files hold one.
void readPooler(Config &config, ModelSpec &model, llvm::StringRef weight);

// Whether two texts follow each other, or in which order, from the pooler:
// what pretraining classes say besides, where the files hold it.
void addPairHead(Config &config, ModelSpec &model, llvm::StringRef weight,
                 llvm::StringRef output, const Extent &labels);

// Dense, activation, norm, then the word table (or an own one) and a bias.
void addMaskedHead(Config &config, ModelSpec &model,
                   transformer::Activation activation, const Norm &norm,
                   const Extent &width = {});

// Classes that label a sequence (its first token, or the mean of all, through
// `transform`), each token, or the ends of an answer. False: none of these.
bool readTask(Config &config, ModelSpec &model, const HeadTransform &transform,
              transformer::Pool pool = transformer::Pool::first);

// Their classes of a family, and the names of their last linear in files.
#define TASKS(family)                                                          \
  family "ForSequenceClassification", family "ForTokenClassification",         \
      family "ForQuestionAnswering"
#define TASK_TENSORS                                                           \
  {"classifier", "classifier"}, {"classifier", "classifier.out_proj"},         \
      {"classifier", "qa_outputs"}

// What the files call the tensors of a layer with norms behind its units.
#define BERT_LAYER_TENSORS(layer)                                              \
  {"layers.*.attn.q", layer "attention.self.query"},                           \
      {"layers.*.attn.k", layer "attention.self.key"},                         \
      {"layers.*.attn.v", layer "attention.self.value"},                       \
      {"layers.*.attn.o", layer "attention.output.dense"},                     \
      {"layers.*.attn.out_norm", layer "attention.output.LayerNorm"},          \
      {"layers.*.ffn.in", layer "intermediate.dense"},                         \
      {"layers.*.ffn.out", layer "output.dense"},                              \
      {"layers.*.ffn.out_norm", layer "output.LayerNorm"}

extern const llvm::ArrayRef<llvm::StringRef> bertSilentKeys;

} // namespace mille::import
