// Reading BERT's keys; names no family's tensors.
#include "compiler/import/families/BertKeys.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef silent[] = {"attention_probs_dropout_prob",
                                             "hidden_dropout_prob",
                                             "classifier_dropout"};
const llvm::ArrayRef<llvm::StringRef> mille::import::bertSilentKeys = silent;

BertParts mille::import::readBert(Config &config, ModelSpec &model,
                                  const BertDefaults &d) {
  model.layers = config.extent("num_hidden_layers", d.layers, 1 << 16);
  model.hidden = config.extent("hidden_size", d.hidden);
  model.vocab = config.extent("vocab_size", d.vocab);
  if (d.positions)
    model.positions = config.extent("max_position_embeddings", d.positions);
  if (config.integer("type_vocab_size", d.tokenTypes) != 0)
    model.tokenTypes = config.extent("type_vocab_size", d.tokenTypes);
  config.mustBe("position_embedding_type", {"\"absolute\""});
  config.mustBe("is_decoder", {"false"});

  BertParts parts;
  parts.norm = {NormKind::layer_norm, config.positive("layer_norm_eps", d.eps),
                Affine::weight, true, config.at("layer_norm_eps")};
  Attention &a = parts.attention;
  a.heads = a.kvHeads = config.extent("num_attention_heads", d.heads, 1 << 16);
  a.headDim = a.valueDim = config.dividedHead(model.hidden, a.heads);
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  a.qBias = a.kBias = a.vBias = a.oBias = true;
  FeedForward &f = parts.feedForward;
  f.size = config.extent("intermediate_size", d.size);
  f.act = config.activation("hidden_act", d.activation);
  f.inBias = f.outBias = true;
  return parts;
}

void mille::import::countPositions(Config &config, ModelSpec &model,
                                   int64_t usualPadding) {
  PositionRule &rule = model.positionRule;
  rule.from = PositionsFrom::ids;
  rule.padding = rule.offset = config.integer("pad_token_id", usualPadding);
  if (rule.padding < 0 || rule.padding + 1 >= model.positions.value)
    config.error("pad_token_id", "pad_token_id is " +
                                     llvm::Twine(rule.padding) +
                                     " but positions begin after it and "
                                     "max_position_embeddings is " +
                                     llvm::Twine(model.positions.value));
}

void mille::import::readPooler(Config &config, ModelSpec &model,
                               llvm::StringRef weight) {
  auto [prefix, bare] = weight.split('.');
  if (config.holds(weight, bare))
    model.pooling = Pooling{};
}

void mille::import::addPairHead(Config &config, ModelSpec &model,
                                llvm::StringRef weight, llvm::StringRef output,
                                const Extent &labels) {
  if (!config.holds(weight, weight))
    return;
  Classifier classifier{labels, {Reading{}}};
  classifier.transform = HeadTransform{Activation::tanh};
  classifier.output = output.str();
  model.classifier = classifier;
}

void mille::import::addMaskedHead(Config &config, ModelSpec &model,
                                  Activation activation, const Norm &norm,
                                  const Extent &width) {
  Head head;
  head.tied = config.flag("tie_word_embeddings", true);
  head.bias = true;
  head.transform = HeadTransform{activation, norm, width};
  head.at = config.at("vocab_size");
  model.head = head;
}

bool mille::import::readTask(Config &config, ModelSpec &model,
                             const HeadTransform &transform, Pool pool) {
  llvm::StringRef task = config.architecture;
  const bool sequence = task.ends_with("ForSequenceClassification");
  const bool answers = task.ends_with("ForQuestionAnswering");
  if (!sequence && !answers && !task.ends_with("ForTokenClassification"))
    return false;
  if (sequence) {
    Reading reading;
    reading.kind = pool;
    model.classifier = Classifier{readLabels(config), {reading}};
    model.classifier->transform = transform;
    return true;
  }
  Head head;
  head.name = "classifier";
  head.bias = true;
  head.at = config.at("architectures");
  if (answers)
    head.rows = {"start_logits", "end_logits"};
  head.outputs = answers ? Extent{2, "the ends of an answer", head.at}
                         : readLabels(config);
  model.head = head;
  return true;
}
