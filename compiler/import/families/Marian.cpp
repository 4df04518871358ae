// Marian, Pegasus and M2M-100: encoder-decoders whose positions are sinusoids.
#include "compiler/import/families/BartKeys.h"

using namespace mille;
using namespace mille::import;
using llvm::StringRef;
using llvm::Twine;

static constexpr llvm::StringRef marianClasses[] = {"MarianModel",
                                                    "MarianMTModel"};
static constexpr llvm::StringRef pegasusClasses[] = {
    "PegasusModel", "PegasusForConditionalGeneration"};
static constexpr llvm::StringRef m2mClasses[] = {
    "M2M100Model", "M2M100ForConditionalGeneration"};

// Half the channels are sines, half cosines; the last frequency is
// 10000^-(1 - 1/half), or where `closed` 1/10000 itself.
static void addSinusoids(Config &config, ModelSpec &model, int64_t extraRows,
                         bool closed) {
  const int64_t half = model.hidden.value / 2;
  if (model.hidden.value % 2 || half <= closed)
    config.error("d_model", "d_model is " + Twine(model.hidden.value) +
                                " but sinusoids need an even number of at "
                                "least " +
                                Twine(closed ? 4 : 2));
  learnPositions(config, model, "max_position_embeddings", 1024, 0);
  for (Stack *stack : {&model.before[0], static_cast<Stack *>(&model)}) {
    stack->positions.value += extraRows;
    // A table in the files is the class's own.
    std::string name = "model." + stack->prefix + "embed_positions.weight";
    if (config.filesHold(name, StringRef(name).drop_front(6)))
      continue;
    stack->positionRule.divisor = double(half - closed);
    stack->positionRule.rounded = !closed; // the class computes or stores it
  }
}

static void describeMarian(Config &config, ModelSpec &model) {
  readBart(config, model,
           {12, 1024, 16, 4096, 58101, 1024, "gelu", false, false, false});
  addSinusoids(config, model, 0, false);
  config.mustBe("static_position_embeddings", {"true"});
  Extent decoderVocab = config.extent("decoder_vocab_size", model.vocab.value);
  if (config.architecture == "MarianMTModel")
    addLogits(config, model, "final_logits_bias");
  config.ignore("add_bias_logits");
  if (!config.flag("share_encoder_decoder_embeddings", true)) {
    model.sharedWords = model.before[0].sharedWords = false;
    model.vocab = decoderVocab;
  } else if (decoderVocab.value != model.vocab.value) {
    config.error("decoder_vocab_size",
                 "decoder_vocab_size is " + Twine(decoderVocab.value) +
                     " but the table is shared and vocab_size is " +
                     Twine(model.vocab.value));
  }
}

static void describePegasus(Config &config, ModelSpec &model) {
  readBart(config, model,
           {12, 1024, 16, 4096, 50265, 1024, "gelu", false, true, false});
  addSinusoids(config, model, 0, false);
  config.mustBe("static_position_embeddings", {"true"});
  if (config.architecture == "PegasusForConditionalGeneration")
    addLogits(config, model, "final_logits_bias");
  config.ignore("add_bias_logits");
}

static void describeM2m(Config &config, ModelSpec &model) {
  readBart(config, model,
           {12, 1024, 16, 4096, 128112, 1024, "relu", true, true, false});
  addSinusoids(config, model, 2, true);
  const int64_t padding = config.integer("pad_token_id", 1);
  if (padding < 0 || padding >= model.positions.value)
    config.error("pad_token_id", "pad_token_id is " + Twine(padding) +
                                     " but is a row of the position table, "
                                     "which has " +
                                     Twine(model.positions.value));
  for (Stack *stack : {&model.before[0], static_cast<Stack *>(&model)}) {
    PositionRule &rule = stack->positionRule;
    rule.from = PositionsFrom::ids;
    rule.padding = rule.offset = rule.zeroRow = padding;
  }
  if (config.architecture == "M2M100ForConditionalGeneration")
    addLogits(config, model, "");
}

const Family mille::import::marian{
    "marian",     marianClasses,    "model.",
    bartTensors,  bartOtherTensors, bartSilentKeys,
    Scheme::bert, describeMarian,   true};
const Family mille::import::pegasus{
    "pegasus",    pegasusClasses,   "model.",
    bartTensors,  bartOtherTensors, bartSilentKeys,
    Scheme::bert, describePegasus,  true};
const Family mille::import::m2m100{
    "m2m_100",      m2mClasses,   "model.",    bartTensors, bartOtherTensors,
    bartSilentKeys, Scheme::bert, describeM2m, true};
