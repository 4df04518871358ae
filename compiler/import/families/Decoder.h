// What the configs of most decoder-only language models have in common: keys,
// names of tensors, placements. A family says where it differs.
#pragma once
#include "compiler/import/families/Families.h"

namespace mille::import {

// Sizes of the configuration class, where the config has no such key.
struct DecoderSizes {
  int64_t layers, hidden, vocab, heads;
  int64_t kvHeads; // 0: heads
  int64_t headDim; // 0: hidden / heads
  int64_t size;    // of the feed-forward; 0: 4 hidden
  double eps;
};

// Keys that families name differently.
struct DecoderKeys {
  llvm::StringRef layers = "num_hidden_layers", hidden = "hidden_size",
                  heads = "num_attention_heads",
                  kvHeads = "num_key_value_heads", size = "intermediate_size",
                  act = "hidden_act", eps = "rms_norm_eps",
                  headDim = "head_dim";
};

class Decoder {
public:
  // Reads the sizes; then attention is causal, of scale 1/sqrt(head_dim), and
  // the feed-forward is gated, both without biases, norms are RMS with weight.
  Decoder(Config &config, ModelSpec &model, const DecoderSizes &usual,
          llvm::StringRef act = "silu", const DecoderKeys &keys = {});

  void layerNorm(double eps, bool bias = true);
  void biases(bool q, bool k, bool v, bool o);
  void biases(bool all) { biases(all, all, all, all); }
  void feedForwardBiases(bool all) { f.inBias = f.outBias = all; }
  void normHeads(NormGroup group, bool afterRope = false);
  void rope(const RopeKeys &keys = {}) {
    a.rope = config.rope(a.headDim, keys);
  }
  // Keys j > i - window; 0 where the key is absent and has no default.
  int64_t window(llvm::StringRef key, int64_t absent = 0);
  // `layer_types`, or where it is absent what `usual` says: one word per layer.
  std::vector<std::string>
  layerTypes(llvm::ArrayRef<llvm::StringRef> known,
             llvm::function_ref<llvm::StringRef(int64_t)> usual);
  // Full and sliding layers; windows on the sliding ones.
  void slidingLayers(int64_t window, llvm::function_ref<bool(int64_t)> usual);
  // Windows of `sliding_window`, where `use_sliding_window` asks for them, on
  // the layers that `usual` says of `max_window_layers`.
  void
  askedWindows(llvm::function_ref<bool(int64_t layer, int64_t most)> usual);
  bool slides(int64_t layer) { return kinds[layer] == "sliding_attention"; }

  // Which layers have RoPE: no_rope_layers (1 says yes), or all but every n-th.
  std::vector<bool> ropeLayers();
  RopeKeys interleaved() const;
  // Where the config says no scaling: YaRN, as the configuration class has it.
  struct YarnSizes {
    double factor, trained;
    bool truncated;
    double magnitude; // of cosines and sines
  };
  void ropeOrYarn(const RopeKeys &keys, const YarnSizes &usual);

  // Low-rank queries, keys and values; `eps` of the norms between.
  struct Ranks {
    int64_t query, keys, nope, rope, value;
  };
  void lowRank(const Ranks &usual, double eps);
  // YaRN's magnitude on the scores too (mscale_all_dim).
  void stretchScores();
  // A choice of groups of experts first.
  void groups(Experts &e, llvm::StringRef key, llvm::StringRef topKey,
              int64_t count, int64_t top);
  // Dense layers first, then experts of their own size beside shared ones.
  struct ExpertSizes {
    int64_t size, shared;
  };
  void expertsAfter(FeedForward dense, Experts e, llvm::StringRef key,
                    int64_t denseLayers, const ExpertSizes &usual,
                    llvm::StringRef sharedKey = "n_shared_experts");

  // Of the layers that mlp_only_layers names, and of those between each
  // decoder_sparse_step, the feed-forward is `dense`.
  void denseAmong(const FeedForward &dense);

  // Attention and feed-forward of each layer, where they differ.
  std::vector<Attention> &attentions();
  std::vector<FeedForward> &feedForwards();

  // Placements of `norm`; `branchScale` != 1 multiplies both branches.
  void preNorm() { units(true, false, false); }
  void postNorm() { units(false, false, true); }
  void normedBranches() { units(false, true, false); }
  void sandwich() { units(true, true, false); }
  void parallel(bool sharedNorm);
  void branchScale(double factor);

  // The loss that balances experts, where transformers would add it.
  void balance();

  // Logits of the second architecture; the final norm is `norm`.
  void head(bool tied, bool bias = false, double scale = 1, double softcap = 0);

  Config &config;
  ModelSpec &model;
  Norm norm;
  Attention a;
  FeedForward f;
  std::vector<std::string> kinds;

private:
  void units(bool in, bool branch, bool out);
  PerLayer<Attention> attention();
  PerLayer<FeedForward> feedForward();
  std::vector<Attention> eachAttention;
  std::vector<FeedForward> eachFeedForward;
};

// Experts as most configs have them; weights by softmax.
Experts expertsOf(Config &config, llvm::StringRef countKey, int64_t count,
                  int64_t chosen);

// model.layers.*.self_attn.q_proj and so on, norms before the branches.
llvm::ArrayRef<TensorName> usualTensors();
// A family of such names: `tensors` come before the usual ones.
Family decoderFamily(llvm::StringRef modelType,
                     llvm::ArrayRef<llvm::StringRef> architectures,
                     llvm::ArrayRef<TensorName> tensors,
                     llvm::ArrayRef<llvm::StringRef> silentKeys,
                     void (*describe)(Config &, ModelSpec &),
                     llvm::StringRef prefix = "model.",
                     llvm::ArrayRef<llvm::StringRef> otherTensors = {});

} // namespace mille::import
