// Ministral 3: YaRN, and scores that grow with the position.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Ministral3Model",
                                                    "Ministral3ForCausalLM"};

// rope_parameters also say how queries grow: 1 + beta ln(1 + floor(p /
// trained)).
static void describeRope(Config &config, Decoder &d) {
  RopeKeys keys;
  keys.theta = 1e6;
  keys.besides = "llama_4_scaling_beta";
  // mscale and mscale_all_dim are equal: cosines and sines stay.
  d.ropeOrYarn(keys, {16, 16384, true, 1});
  const json::Value *rope = config.object("rope_parameters");
  if (!rope) {
    d.a.lengthScale = LengthScale{LengthKind::log_floor, 0, 1, 0.1, 16384, 0};
    return;
  }
  const json::Member *beta = rope->find("llama_4_scaling_beta");
  const json::Member *trained = rope->find("original_max_position_embeddings");
  if (!beta || beta->value.kind == json::Kind::null)
    return;
  if (beta->value.kind != json::Kind::number || !trained ||
      !trained->value.whole || trained->value.integer < 1) {
    config.problems.error(config.at(beta->value),
                          "llama_4_scaling_beta is " + beta->value.describe() +
                              " but must be a number beside an "
                              "original_max_position_embeddings from 1");
    return;
  }
  d.a.lengthScale =
      LengthScale{LengthKind::log_floor,  0, 1, beta->value.number,
                  trained->value.integer, 0};
}

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {34, 4096, 131072, 32, 8, 128, 14336, 1e-5});
  describeRope(config, d);
  d.a.left = d.window("sliding_window");
  d.preNorm();
  d.head(false);
}

const Family mille::import::ministral3 =
    decoderFamily("ministral3", architectures, {}, {}, describe);
