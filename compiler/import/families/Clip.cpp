// CLIP: a causal text tower pooled at its end token, an image tower pooled at
// CLS, both projected and compared. Also each tower by itself.
#include "compiler/import/families/Families.h"
#include "compiler/import/families/Towers.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"CLIPModel"};
static constexpr llvm::StringRef textArchitectures[] = {
    "CLIPTextModel", "CLIPTextModelWithProjection"};
static constexpr llvm::StringRef imageArchitectures[] = {
    "CLIPVisionModel", "CLIPVisionModelWithProjection"};

#define TEXT(mille)                                                            \
  TEXT_TOWER(mille, "text_model."), {mille "projection", "text_projection"}
#define IMAGE(mille)                                                           \
  TOWER(mille, "vision_model."),                                               \
      {mille "class", "vision_model.embeddings.class_embedding"},              \
      {mille "patch", "vision_model.embeddings.patch_embedding"},              \
      {mille "position", "vision_model.embeddings.position_embedding"},        \
      {mille "embed_norm", "vision_model.pre_layrnorm"},                       \
      {mille "pool_norm", "vision_model.post_layernorm"},                      \
      {mille "projection", "visual_projection"}

static constexpr TensorName tensors[] = {
    TEXT("text."), IMAGE("vision."), {"logit_scale", "logit_scale"}};
static constexpr TensorName textTensors[] = {TEXT("")};
static constexpr TensorName imageTensors[] = {IMAGE("")};

static constexpr llvm::StringRef otherTensors[] = {
    "text_model.embeddings.position_ids", "embeddings.position_ids",
    "vision_model.embeddings.position_ids"};
static constexpr llvm::StringRef silentKeys[] = {
    "attention_dropout",      "dropout",
    "initializer_factor",     "intermediate_dropout",
    "logit_scale_init_value", "projection_dim"};

static constexpr TowerDefaults textDefaults{
    512, 2048, 12, 8, 77, 49408, 0, 0, 1e-5, "quick_gelu"};
static constexpr TowerDefaults imageDefaults{768, 3072, 12, 12,   0,
                                             0,   224,  32, 1e-5, "quick_gelu"};

static void readText(Config &config, Stack &stack) {
  readTextTower(config, textDefaults, Mask::causal, stack);
  Pooling pooling;
  pooling.dense = false;
  // 2 was written into old configurations whose end token is the last of the
  // vocabulary: there the largest id marks the end.
  pooling.id = config.integer("eos_token_id", 49407);
  pooling.kind = pooling.id == 2 ? Pool::highest_id : Pool::first_id;
  if (pooling.id == 2)
    pooling.id = 0;
  stack.pooling = pooling;
}

static void readImage(Config &config, Stack &stack) {
  Norm norm = readImageTower(config, imageDefaults, stack);
  stack.image->leading = {{"class", {1, "the CLS token", {}}}};
  stack.image->bias = false;
  stack.embedNorm = norm;
  Pooling pooling;
  pooling.dense = false;
  pooling.norm = norm;
  stack.pooling = pooling;
}

static void project(Config &config, Stack &stack, const char *output) {
  stack.pooling->projection = config.extent("projection_dim", 512);
  stack.pooling->projected = output;
}

static void describeText(Config &config, ModelSpec &model) {
  readText(config, model);
  if (config.architecture == "CLIPTextModelWithProjection")
    project(config, model, "text_embeds");
}

static void describeImage(Config &config, ModelSpec &model) {
  readImage(config, model);
  if (config.architecture == "CLIPVisionModelWithProjection")
    project(config, model, "image_embeds");
}

static void describe(Config &config, ModelSpec &model) {
  checkCopy(config, "text_config", "text_config_dict");
  checkCopy(config, "vision_config", "vision_config_dict");
  Config text(config, "text_config"), image(config, "vision_config");
  Stack &first = model.before.emplace_back();
  readText(text, first);
  project(config, first, "");
  nameTower("text.", first);
  readImage(image, model);
  project(config, model, "");
  nameTower("vision.", model);
  model.contrast =
      Contrast{false, config.number("logit_scale_init_value", 2.6592)};
  finishTower(text, silentKeys);
  finishTower(image, silentKeys);
}

const Family mille::import::clip{"clip",       architectures, "",
                                 tensors,      otherTensors,  silentKeys,
                                 Scheme::bert, describe};
const Family mille::import::clipText{
    "clip_text_model", textArchitectures, "text_model.", textTensors,
    otherTensors,      silentKeys,        Scheme::bert,  describeText};
const Family mille::import::clipVision{
    "clip_vision_model", imageArchitectures, "vision_model.", imageTensors,
    otherTensors,        silentKeys,         Scheme::bert,    describeImage};
