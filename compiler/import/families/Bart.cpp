// BART and mBART: encoder-decoders with learned positions, two rows after the
// table's beginning; mBART with the norms before the branches.
#include "compiler/import/families/BartKeys.h"

using namespace mille;
using namespace mille::import;

static constexpr llvm::StringRef architectures[] = {
    "BartModel", "BartForConditionalGeneration"};
static constexpr llvm::StringRef multilingual[] = {
    "MBartModel", "MBartForConditionalGeneration"};

static void describeWith(Config &config, ModelSpec &model, bool preNorm) {
  readBart(config, model,
           {12, 1024, 16, 4096, 50265, 1024, "gelu", false, preNorm, true});
  learnPositions(config, model, "max_position_embeddings", 1024, 2);
  config.mustBe("static_position_embeddings", {"false"});
  if (llvm::StringRef(config.architecture).ends_with("ConditionalGeneration"))
    addLogits(config, model, "final_logits_bias");
  config.ignore("add_bias_logits"); // the files say it
}

static void describe(Config &config, ModelSpec &model) {
  describeWith(config, model, false);
}
static void describeMultilingual(Config &config, ModelSpec &model) {
  describeWith(config, model, true);
}

const Family mille::import::bart{"bart",       architectures,    "model.",
                                 bartTensors,  bartOtherTensors, bartSilentKeys,
                                 Scheme::bert, describe,         true};
const Family mille::import::mBart{
    "mbart",      multilingual,         "model.",
    bartTensors,  bartOtherTensors,     bartSilentKeys,
    Scheme::bert, describeMultilingual, true};
