// Qwen 3: norms of query and key heads, windows on late layers.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Qwen3Model",
                                                    "Qwen3ForCausalLM"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 151936, 32, 32, 128, 22016, 1e-6});
  d.rope();
  d.biases(config.flag("attention_bias", false));
  d.normHeads(NormGroup::head);
  d.askedWindows([](int64_t layer, int64_t most) { return layer >= most; });
  d.preNorm();
  d.head(false);
}

const Family mille::import::qwen3 =
    decoderFamily("qwen3", architectures, {}, {}, describe);
