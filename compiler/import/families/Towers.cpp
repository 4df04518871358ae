// Towers of two-tower families.
#include "compiler/import/families/Towers.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static Norm readLayers(Config &config, const TowerDefaults &absent,
                       Stack &stack, Mask mask) {
  stack.layers = config.extent("num_hidden_layers", absent.layers, 1 << 16);
  stack.hidden = config.extent("hidden_size", absent.hidden);
  Norm norm{NormKind::layer_norm, config.positive("layer_norm_eps", absent.eps),
            Affine::weight, true, config.at("layer_norm_eps")};
  Attention a = imageAttention(config, stack.hidden, absent.heads);
  a.mask = mask;
  FeedForward f =
      imageFeedForward(config, config.extent("intermediate_size", absent.size),
                       absent.activation);
  stack.units = preNormUnits(a, f, norm);
  stack.lastStateNormed = false;
  return norm;
}

void mille::import::readTextTower(Config &config, const TowerDefaults &absent,
                                  Mask mask, Stack &stack) {
  stack.vocab = config.extent("vocab_size", absent.vocab);
  stack.positions = config.extent("max_position_embeddings", absent.positions);
  stack.finalNorm = readLayers(config, absent, stack, mask);
}

Norm mille::import::readImageTower(Config &config, const TowerDefaults &absent,
                                   Stack &stack) {
  Norm norm = readLayers(config, absent, stack, Mask::bidirectional);
  stack.image = readImage(config, absent.imageSize, absent.patchSize);
  stack.image->positions = true;
  stack.image->resize = Resize::bicubic;
  return norm;
}

void mille::import::nameTower(llvm::StringRef prefix, Stack &stack) {
  stack.prefix = prefix.str();
  stack.output = stack.prefix + "last_hidden_state";
  stack.states = stack.prefix + "hidden_states";
  Pooling &pooling = *stack.pooling;
  const std::string name = stack.prefix + "pooler_output";
  if (pooling.projection) {
    pooling.output = "";
    pooling.projected = name;
  } else {
    pooling.output = name;
  }
}

void mille::import::finishTower(Config &config,
                                llvm::ArrayRef<llvm::StringRef> silentKeys) {
  config.mustBe("is_encoder_decoder", {"false"});
  config.mustBe("add_cross_attention", {"false"});
  config.mustBe("pruned_heads", {"{}"});
  ignoreUsual(config, silentKeys);
}

void mille::import::checkCopy(Config &config, llvm::StringRef key,
                              llvm::StringRef copy) {
  const json::Value *first = config.object(key), *second = config.object(copy);
  if (!second)
    return;
  for (const json::Member &member : second->members) {
    const json::Member *same = first ? first->find(member.key) : nullptr;
    std::string given = member.value.describe();
    if (same && same->value.describe() == given)
      continue;
    config.problems
        .error(config.at(member.value),
               member.key + " of " + copy + " is " + given + " but of " + key +
                   " it is " +
                   (same ? same->value.describe() : std::string("absent")))
        .help("transformers takes " + copy + "'s: write it in " + key);
  }
}
