// Llama 4, text: chunks and norms behind RoPE on most layers, scores that grow
// with the position on the others; a score multiplies an expert's input.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Llama4TextModel",
                                                    "Llama4ForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.ffn.gate", LAYER "feed_forward.gate_proj"},
    {"layers.*.ffn.in", LAYER "feed_forward.up_proj"},
    {"layers.*.ffn.out", LAYER "feed_forward.down_proj"},
    {"layers.*.ffn.router", LAYER "feed_forward.router"},
    {"layers.*.ffn.experts.in.weight",
     LAYER "feed_forward.experts.gate_up_proj", true},
    {"layers.*.ffn.experts.out.weight", LAYER "feed_forward.experts.down_proj",
     true},
    {"layers.*.ffn.shared.gate", LAYER "feed_forward.shared_expert.gate_proj"},
    {"layers.*.ffn.shared.in", LAYER "feed_forward.shared_expert.up_proj"},
    {"layers.*.ffn.shared.out", LAYER "feed_forward.shared_expert.down_proj"}};

static constexpr llvm::StringRef silentKeys[] = {"for_llm_compressor"};

// Layers with RoPE see chunks, norm their heads; the others have a temperature.
static void describeLayers(Config &config, Decoder &d) {
  std::vector<bool> turns = d.ropeLayers();
  d.kinds =
      d.layerTypes({"full_attention", "chunked_attention"}, [&](int64_t l) {
        return turns[l] ? "chunked_attention" : "full_attention";
      });
  int64_t chunk = d.window("attention_chunk_size", 8192);
  Norm norm = d.norm;
  norm.affine = Affine::none;
  bool normed = config.flag("use_qk_norm", true);
  LengthScale growth{LengthKind::log_floor,
                     0,
                     1,
                     config.number("attn_scale", 0.1),
                     config.extent("floor_scale", 8192).value,
                     1,
                     true};
  bool grows = config.flag("attn_temperature_tuning", true);
  for (auto [layer, a] : llvm::enumerate(d.attentions())) {
    if (d.kinds[layer] == "chunked_attention")
      a.chunk = chunk;
    a.chunksFromMask = true;
    if (!turns[layer]) {
      a.rope.reset();
      if (grows)
        a.lengthScale = growth;
    } else if (normed) {
      a.qkNorm.norm = norm;
      a.normAfterRope = true;
    }
  }
}

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {48, 5120, 202048, 40, 8, 128, 8192, 1e-5});
  RopeKeys rope = d.interleaved();
  rope.theta = 500000;
  d.rope(rope);
  d.biases(config.flag("attention_bias", false));
  describeLayers(config, d);
  Experts e = expertsOf(config, "num_local_experts", 16, 1);
  e.score = RouterScore::sigmoid;
  e.weighInput = true;
  e.layout = GateLayout::concat;
  e.sharedSize = d.f.size;
  FeedForward dense = d.f;
  dense.size = config.extent("intermediate_size_mlp", 16384);
  d.f.experts = e;
  int64_t step = config.extent("interleave_moe_layer_step", 1).value;
  std::vector<int64_t> sparse = config.integers("moe_layers");
  bool listed = config.has("moe_layers");
  for (auto [layer, feedForward] : llvm::enumerate(d.feedForwards()))
    if (listed ? !llvm::is_contained(sparse, int64_t(layer))
               : (layer + 1) % step != 0)
      feedForward = dense;
  d.preNorm();
  d.head(false);
}

const Family mille::import::llama4Text =
    decoderFamily("llama4_text", architectures, tensors, silentKeys, describe);
