// The keys of ViT's configuration class, which DeiT's has too.
#include "compiler/import/families/VitKeys.h"
#include "compiler/import/families/Families.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

void mille::import::describeVitStack(Config &config, ModelSpec &model) {
  model.layers = config.extent("num_hidden_layers", 12, 1 << 16);
  model.hidden = config.extent("hidden_size", 768);
  model.image = readImage(config, 224, 16);
  model.image->leading = {{"class", {1, "the CLS token", {}}}};
  model.image->positions = true;
  model.image->resize = Resize::bicubic;
  Norm norm{NormKind::layer_norm, config.positive("layer_norm_eps", 1e-12),
            Affine::weight, true, config.at("layer_norm_eps")};
  model.finalNorm = norm;
  model.lastStateNormed = false;

  Attention a = imageAttention(config, model.hidden, 12);
  a.qBias = a.kBias = a.vBias = config.flag("qkv_bias", true);
  FeedForward f = imageFeedForward(
      config, config.extent("intermediate_size", 3072), "gelu");
  model.units = preNormUnits(a, f, norm);
}

Pooling mille::import::vitPooling(Config &config, const ModelSpec &model) {
  Pooling pooling;
  pooling.width = config.extent("pooler_output_size", model.hidden.value);
  pooling.act = config.activation("pooler_act", "tanh");
  return pooling;
}
