// Swin and Swin V2: attention in windows that move from layer to layer, stages
// of ever fewer and wider tokens. V2 norms after branches, compares queries and
// keys by their cosine and computes its biases from coordinates.
#include "compiler/import/config/ConfigImage.h"
#include "compiler/import/families/Families.h"
#include "compiler/import/model/Coordinates.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::Twine;

static constexpr llvm::StringRef architectures[] = {
    "SwinModel", "SwinForImageClassification"};
static constexpr llvm::StringRef secondArchitectures[] = {
    "Swinv2Model", "Swinv2ForImageClassification"};

#define STAGE(base) base ".encoder.layers.*."
#define LAYER(base) STAGE(base) "blocks.*."
#define TENSORS(base)                                                          \
  {"stages.*.patch", base ".embeddings.patch_embeddings.projection"},          \
      {"stages.*.position.weight", base ".embeddings.position_embeddings"},    \
      {"stages.*.embed_norm", base ".embeddings.norm"},                        \
      {"stages.*.merge", STAGE(base) "downsample.reduction"},                  \
      {"stages.*.merge_norm", STAGE(base) "downsample.norm"},                  \
      {"stages.*.layers.*.attn.q", LAYER(base) "attention.self.query"},        \
      {"stages.*.layers.*.attn.k", LAYER(base) "attention.self.key"},          \
      {"stages.*.layers.*.attn.v", LAYER(base) "attention.self.value"},        \
      {"stages.*.layers.*.attn.o", LAYER(base) "attention.output.dense"},      \
      {"stages.*.layers.*.ffn.in", LAYER(base) "intermediate.dense"},          \
      {"stages.*.layers.*.ffn.out", LAYER(base) "output.dense"},               \
      {"stages.*.final_norm", base ".layernorm"}, {"classifier", "classifier"}

static constexpr TensorName tensors[] = {
    TENSORS("swin"),
    {"stages.*.layers.*.attn.in_norm", LAYER("swin") "layernorm_before"},
    {"stages.*.layers.*.attn.relative.weight",
     LAYER("swin") "attention.self.relative_position_bias_table"},
    {"stages.*.layers.*.ffn.in_norm", LAYER("swin") "layernorm_after"}};

#define COMPUTED LAYER("swinv2") "attention.self.continuous_position_bias_mlp."
static constexpr TensorName secondTensors[] = {
    TENSORS("swinv2"),
    {"stages.*.layers.*.attn.branch_norm", LAYER("swinv2") "layernorm_before"},
    {"stages.*.layers.*.attn.logit_scale",
     LAYER("swinv2") "attention.self.logit_scale"},
    {"stages.*.layers.*.attn.relative.in", COMPUTED "0"},
    {"stages.*.layers.*.attn.relative.out", COMPUTED "2"},
    {"stages.*.layers.*.ffn.branch_norm", LAYER("swinv2") "layernorm_after"}};

static constexpr llvm::StringRef otherTensors[] = {
    "embeddings.mask_token", "classifier.weight", "classifier.bias",
    "encoder.layers.*.blocks.*.attention.self.relative_position_index",
    "encoder.layers.*.blocks.*.attention.self.relative_coords_table"};

static constexpr llvm::StringRef silentKeys[] = {"attention_probs_dropout_prob",
                                                 "drop_path_rate",
                                                 "encoder_stride",
                                                 "hidden_dropout_prob",
                                                 "hidden_size",
                                                 "num_layers",
                                                 "out_features",
                                                 "out_indices",
                                                 "path_norm",
                                                 "stage_names"};

namespace {

// Fills the model stage by stage; each is a stack of its own.
class Reader {
public:
  Reader(Config &config, bool second) : config(config), second(second) {}
  void read(ModelSpec &model);

private:
  void readKeys();
  void matchDepths(std::vector<Extent> &list, llvm::StringRef key);
  int64_t windowOf(size_t stage);
  Attention attention(size_t stage, int64_t layer, const Extent &hidden);
  PairBias bias(size_t stage);
  void fill(Stack &stack, size_t stage);
  void finish(ModelSpec &model);

  Config &config;
  const bool second; // Swin V2
  Image image;
  Grid grid; // of the stage at hand
  Extent embed, window;
  std::vector<Extent> depths, heads;
  std::vector<int64_t> trained; // windows that V2's biases were trained with
  Activation act;
  double ratio;
  bool qkvBias;
  Norm norm;
};

} // namespace

void Reader::matchDepths(std::vector<Extent> &list, llvm::StringRef key) {
  if (list.size() != depths.size())
    config
        .error(key, key + " has " + Twine(list.size()) +
                        " entries but depths has " + Twine(depths.size()))
        .note(config.at("depths"), "depths is given here");
  list.resize(depths.size(), Extent{1, key.str(), config.at(key)});
}

void Reader::readKeys() {
  embed = config.extent("embed_dim", 96, 1 << 16);
  depths = readExtents(config, "depths", {2, 2, 6, 2});
  if (depths.empty()) {
    config.error("depths", "depths is [] but there must be a stage");
    depths.push_back({1, "depths", config.at("depths")});
  }
  heads = readExtents(config, "num_heads", {3, 6, 12, 24});
  matchDepths(heads, "num_heads");
  window = config.extent("window_size", 7, 1 << 10);
  ratio = config.positive("mlp_ratio", 4);
  qkvBias = config.flag("qkv_bias", true);
  act = config.activation("hidden_act", "gelu");
  norm = {NormKind::layer_norm, config.positive("layer_norm_eps", 1e-5),
          Affine::weight, true, config.at("layer_norm_eps")};
  const bool positions = config.flag("use_absolute_embeddings", false);
  image = readImage(config, 224, 4, /*anySize=*/!second && !positions);
  for (auto [side, patch] :
       {std::pair<Extent, Extent>{image.height, image.patchHeight},
        {image.width, image.patchWidth}})
    if (side.value % patch.value)
      config
          .error("image_size", side.key + " is " + Twine(side.value) +
                                   " but patch_size must divide it, which is " +
                                   Twine(patch.value))
          .note(patch.at, "patch_size is given here");
  image.positions = positions;
  image.resize = Resize::bicubic;
  image.normFirst = true;
  trained.assign(depths.size(), 0);
  if (!second)
    return;
  const json::Value *list = config.list("pretrained_window_sizes");
  for (size_t i = 0; list && i < list->items.size() && i < trained.size(); ++i)
    trained[i] = list->items[i].whole ? list->items[i].integer : -1;
  for (int64_t size : trained)
    if (size < 0 || size == 1 || (list && list->items.size() < depths.size())) {
      config.error("pretrained_window_sizes",
                   "pretrained_window_sizes is " + list->describe() +
                       " but must have a size from 2, or 0, for each of the " +
                       Twine(depths.size()) + " stages");
      trained.assign(depths.size(), 0);
      return;
    }
}

// A window of a stage. Where the tokens are fewer it shrinks in V2, whose
// biases follow; those of the first Swin are a table of one size.
int64_t Reader::windowOf(size_t stage) {
  if (second)
    return std::min(window.value,
                    std::max<int64_t>(1, image.grid().height >> stage));
  int64_t least = std::min(grid.height, grid.width);
  if (least < window.value)
    config.error("window_size", "window_size is " + Twine(window.value) +
                                    " but stage " + Twine(stage) + " has " +
                                    Twine(grid.height) + " x " +
                                    Twine(grid.width) + " tokens");
  return std::min(window.value, least);
}

PairBias Reader::bias(size_t stage) {
  const int64_t size = windowOf(stage);
  PairBias bias;
  bias.index = relativePairs({size, size});
  bias.entries = (2 * size - 1) * (2 * size - 1);
  if (second) {
    bias.coordinates =
        logSpacedDistances(size, trained[stage] > 0 ? trained[stage] : size);
    bias.width = 512;
  }
  return bias;
}

Attention Reader::attention(size_t stage, int64_t layer, const Extent &hidden) {
  Attention a;
  a.heads = a.kvHeads = heads[stage];
  a.headDim = a.valueDim = config.dividedHead(hidden, a.heads);
  a.qBias = a.kBias = a.vBias = qkvBias;
  a.oBias = true;
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  if (second) {
    a.kBias = false;
    a.scale = 1;
    a.learnedScale = true;
    a.qkNorm.norm.kind = NormKind::l2_norm;
    a.qkNorm.norm.eps = 1e-12;
    a.qkNorm.norm.at = a.heads.at;
    a.qkNorm.group = NormGroup::head;
  }
  const int64_t size = windowOf(stage);
  const int64_t least =
      second ? image.grid().height >> stage : std::min(grid.height, grid.width);
  // A window that holds all tokens does not move.
  const bool moves = layer % 2 && least > window.value;
  WindowPlan plan{grid, size, moves ? window.value / 2 : 0};
  plan.shiftOfRuns = layer % 2 ? window.value / 2 : 0;
  plan.followsImage = second;
  plan.side[0] = image.patchHeight.value << stage;
  plan.side[1] = image.patchWidth.value << stage;
  a.windows = plan;
  a.pairBiases = {bias(stage)};
  return a;
}

void Reader::fill(Stack &stack, size_t stage) {
  stack.prefix = "stages." + std::to_string(stage) + ".";
  stack.layers = depths[stage];
  stack.hidden = embed;
  stack.hidden.value = embed.value << stage;
  stack.embedNorm = norm;
  stack.embedNorm.eps = 1e-5; // whatever the config says
  if (stage == 0) {
    stack.image = image;
    grid = image.grid();
  } else {
    Merging merging;
    merging.grid = grid;
    merging.side[0] = image.patchHeight.value << (stage - 1);
    merging.side[1] = image.patchWidth.value << (stage - 1);
    merging.prefix = "stages." + std::to_string(stage - 1) + ".";
    merging.normFirst = !second;
    stack.merging = merging;
    grid = merged(grid);
  }
  FeedForward f;
  f.size = stack.hidden;
  f.size.key = "embed_dim * mlp_ratio";
  f.size.value =
      std::max<int64_t>(1, int64_t(double(stack.hidden.value) * ratio));
  f.act = act;
  f.inBias = f.outBias = true;
  for (int64_t layer = 0; layer < stack.layers.value; ++layer) {
    std::vector<Unit> units =
        preNormUnits(attention(stage, layer, stack.hidden), f, norm);
    if (second)
      for (Unit &unit : units)
        std::swap(unit.inNorm, unit.branchNorm);
    stack.layerUnits.push_back(units);
  }
  stack.states = stack.output = "";
  stack.embeddedState = "hidden_states." + std::to_string(stage);
}

void Reader::read(ModelSpec &model) {
  readKeys();
  for (size_t stage = 0; stage + 1 < depths.size(); ++stage)
    fill(model.before.emplace_back(), stage);
  fill(model, depths.size() - 1);
  finish(model);
}

void Reader::finish(ModelSpec &model) {
  model.finalNorm = norm;
  model.output = "last_hidden_state";
  model.lastState = "hidden_states." + std::to_string(depths.size());
  Pooling pooling;
  pooling.kind = Pool::mean;
  pooling.dense = false;
  model.pooling = pooling;
  Extent labels = readLabels(config);
  if (llvm::StringRef(config.architecture)
          .ends_with("ForImageClassification")) {
    Reading reading;
    reading.pooled = true;
    model.classifier = Classifier{labels, {reading}};
  }
}

static void describeFirst(Config &config, ModelSpec &model) {
  Reader(config, false).read(model);
}

static void describeSecond(Config &config, ModelSpec &model) {
  Reader(config, true).read(model);
}

const Family mille::import::swin{"swin",       architectures, "swin.",
                                 tensors,      otherTensors,  silentKeys,
                                 Scheme::bert, describeFirst};

const Family mille::import::swinv2{
    "swinv2",     secondArchitectures, "swinv2.",    secondTensors,
    otherTensors, silentKeys,          Scheme::bert, describeSecond};
