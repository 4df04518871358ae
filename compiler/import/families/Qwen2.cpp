// Qwen 1.5, 2 and 2.5: biases on queries, keys and values; windows on late
// layers.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Qwen2Model",
                                                    "Qwen2ForCausalLM"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 151936, 32, 32, 0, 22016, 1e-6});
  d.rope();
  d.biases(true, true, true, false);
  d.askedWindows([](int64_t layer, int64_t most) { return layer >= most; });
  d.preNorm();
  d.head(false);
}

const Family mille::import::qwen2 =
    decoderFamily("qwen2", architectures, {}, {}, describe);
