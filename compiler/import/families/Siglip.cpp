// SigLIP: a text tower pooled at its last token, an image tower pooled by the
// attention of a learned token, compared with a scale and a bias. Also each by
// itself.
#include "compiler/import/families/Families.h"
#include "compiler/import/families/Towers.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::Twine;

static constexpr llvm::StringRef architectures[] = {"SiglipModel"};
static constexpr llvm::StringRef textArchitectures[] = {"SiglipTextModel"};
static constexpr llvm::StringRef imageArchitectures[] = {"SiglipVisionModel"};

#define HEAD "vision_model.head."
#define TEXT(mille)                                                            \
  TEXT_TOWER(mille, "text_model."), {mille "pooler", "text_model.head"}
#define IMAGE(mille)                                                           \
  TOWER(mille, "vision_model."),                                               \
      {mille "patch", "vision_model.embeddings.patch_embedding"},              \
      {mille "position", "vision_model.embeddings.position_embedding"},        \
      {mille "final_norm", "vision_model.post_layernorm"},                     \
      {mille "pool.probe", HEAD "probe"},                                      \
      {mille "pool.q.weight", HEAD "attention.in_proj_weight", false, 0, 3},   \
      {mille "pool.k.weight", HEAD "attention.in_proj_weight", false, 1, 3},   \
      {mille "pool.v.weight", HEAD "attention.in_proj_weight", false, 2, 3},   \
      {mille "pool.q.bias", HEAD "attention.in_proj_bias", false, 0, 3},       \
      {mille "pool.k.bias", HEAD "attention.in_proj_bias", false, 1, 3},       \
      {mille "pool.v.bias", HEAD "attention.in_proj_bias", false, 2, 3},       \
      {mille "pool.o", HEAD "attention.out_proj"},                             \
      {mille "pool.norm", HEAD "layernorm"},                                   \
      {mille "pool.in", HEAD "mlp.fc1"}, {mille "pool.out", HEAD "mlp.fc2"}

static constexpr TensorName tensors[] = {TEXT("text."),
                                         IMAGE("vision."),
                                         {"logit_scale", "logit_scale"},
                                         {"logit_bias", "logit_bias"}};
static constexpr TensorName textTensors[] = {TEXT("")};
static constexpr TensorName imageTensors[] = {IMAGE("")};

static constexpr llvm::StringRef otherTensors[] = {
    "text_model.embeddings.position_ids", "embeddings.position_ids",
    "vision_model.embeddings.position_ids"};
static constexpr llvm::StringRef silentKeys[] = {
    "attention_dropout", "initializer_factor", "projection_size",
    "vision_use_head"};

static constexpr TowerDefaults textDefaults{
    768, 3072, 12, 12, 64, 32000, 0, 0, 1e-6, "gelu_pytorch_tanh"};
static constexpr TowerDefaults imageDefaults{
    768, 3072, 12, 12, 0, 0, 224, 16, 1e-6, "gelu_pytorch_tanh"};

static void readText(Config &config, Stack &stack) {
  readTextTower(config, textDefaults, Mask::bidirectional, stack);
  Pooling pooling;
  pooling.kind = Pool::last;
  pooling.everyToken = true; // padding is a token like others
  pooling.act = Activation::identity;
  pooling.width = config.extent("projection_size", stack.hidden.value);
  stack.pooling = pooling;
}

static void readImage(Config &config, Stack &stack) {
  Norm norm = readImageTower(config, imageDefaults, stack);
  stack.finalNorm = norm;
  if (!config.flag("vision_use_head", true))
    return;
  Probe probe{*stack.units[0].branches[0].attention.at(0),
              *stack.units[1].branches[0].feedForward.at(0), norm};
  Pooling pooling;
  pooling.dense = false;
  pooling.probe = probe;
  stack.pooling = pooling;
}

static void describeText(Config &config, ModelSpec &model) {
  readText(config, model);
}

static void describeImage(Config &config, ModelSpec &model) {
  readImage(config, model);
}

static void describe(Config &config, ModelSpec &model) {
  Config text(config, "text_config"), image(config, "vision_config");
  Stack &first = model.before.emplace_back();
  readText(text, first);
  nameTower("text.", first);
  readImage(image, model);
  if (!model.pooling) {
    image.error("vision_use_head", "vision_use_head is false but there is a "
                                   "text tower to compare with");
    return;
  }
  nameTower("vision.", model);
  const Extent &width = first.pooling->width;
  if (width.value != model.hidden.value)
    config.problems
        .error(width.at, width.key + " of text_config is " +
                             Twine(width.value) +
                             " but hidden_size of vision_config is " +
                             Twine(model.hidden.value))
        .note(model.hidden.at, "hidden_size of vision_config is given here");
  model.contrast = Contrast{true, 0};
  finishTower(text, silentKeys);
  finishTower(image, silentKeys);
}

const Family mille::import::siglip{"siglip",     architectures, "",
                                   tensors,      otherTensors,  silentKeys,
                                   Scheme::bert, describe};
const Family mille::import::siglipText{
    "siglip_text_model", textArchitectures, "text_model.", textTensors,
    otherTensors,        silentKeys,        Scheme::bert,  describeText};
const Family mille::import::siglipVision{
    "siglip_vision_model", imageArchitectures, "vision_model.", imageTensors,
    otherTensors,          silentKeys,         Scheme::bert,    describeImage};
