// MiniCPM 3: low-rank attention; words, branches and logits are scaled by the
// widths of a small model.
#include "compiler/import/families/Decoder.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"MiniCPM3Model",
                                                    "MiniCPM3ForCausalLM"};

static constexpr llvm::StringRef silentKeys[] = {"head_dim", "qk_head_dim"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {62, 2560, 73448, 40, 0, 0, 6400, 1e-5});
  const int64_t shared = model.hidden.value / d.a.heads.value;
  d.lowRank({768, 256, 64, 32, shared}, 1e-6); // the norms' own eps
  d.biases(false, false, false, d.a.latent->bias);
  d.a.rope = config.rope(d.a.latent->rope);
  d.stretchScores();
  model.embedScale = config.positive("scale_emb", 12);
  d.feedForwardBiases(config.flag("mlp_bias", false));
  d.preNorm();
  // null: nothing is scaled.
  const double depth = std::sqrt(double(model.layers.value));
  const double width = double(model.hidden.value);
  auto usual = [&](llvm::StringRef key, double number, double nothing) {
    return config.positive(key, config.given(key) ? nothing : number);
  };
  d.branchScale(usual("scale_depth", 1.4, depth) / depth);
  const double base = usual("dim_model_base", 256, width);
  d.head(true, false, base / width);
}

const Family mille::import::miniCpm3 =
    decoderFamily("minicpm3", architectures, {}, silentKeys, describe);
