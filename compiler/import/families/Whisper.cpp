// Whisper: a spectrogram's encoder and a text decoder, BART's layers with the
// norms before the branches and no bias on keys.
#include "compiler/import/families/BartKeys.h"

using namespace mille;
using namespace mille::import;

static constexpr llvm::StringRef architectures[] = {
    "WhisperModel", "WhisperForConditionalGeneration"};

// scale_embedding is read by the class but nothing is multiplied by it.
static constexpr llvm::StringRef silentKeys[] = {"activation_dropout",
                                                 "alignment_heads",
                                                 "apply_spec_augment",
                                                 "attention_dropout",
                                                 "classifier_proj_size",
                                                 "decoder_layerdrop",
                                                 "dropout",
                                                 "encoder_layerdrop",
                                                 "forced_decoder_ids",
                                                 "init_std",
                                                 "lang_to_id",
                                                 "mask_feature_length",
                                                 "mask_feature_min_masks",
                                                 "mask_feature_prob",
                                                 "mask_time_length",
                                                 "mask_time_min_masks",
                                                 "mask_time_prob",
                                                 "max_length",
                                                 "median_filter_width",
                                                 "num_hidden_layers",
                                                 "scale_embedding",
                                                 "use_weighted_layer_sum"};

static void describe(Config &config, ModelSpec &model) {
  readBart(config, model,
           {4, 384, 6, 1536, 51865, 0, "gelu", false, true, false});
  Stack &encoder = model.before[0];
  model.embedScale = encoder.embedScale = 1;
  model.sharedWords = encoder.sharedWords = false;
  encoder.vocab = {};
  encoder.sound = Sound{config.extent("num_mel_bins", 80),
                        config.extent("max_source_positions", 1500, 1 << 20)};
  encoder.positions = encoder.sound->frames;
  model.positions = config.extent("max_target_positions", 448);
  for (Stack *stack : {&encoder, static_cast<Stack *>(&model)})
    for (Unit &unit : stack->units)
      for (Branch &branch : unit.branches)
        for (Attention &a : branch.attention.all)
          a.kBias = false;
  if (config.architecture == "WhisperForConditionalGeneration")
    addLogits(config, model, "");
}

const Family mille::import::whisper{"whisper",    architectures,    "model.",
                                    bartTensors,  bartOtherTensors, silentKeys,
                                    Scheme::bert, describe,         true};
