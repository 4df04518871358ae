// Reads the keys that configurations of image models share.
#pragma once
#include "compiler/import/config/Config.h"

namespace mille::import {

// Reads image_size and patch_size (a number, or [height, width]) and
// num_channels. `anySize`: no parameter depends on the image's size.
Image readImage(Config &config, int64_t imageSize, int64_t patchSize,
                bool anySize = false);

// Says of all images of the model whether runs choose their size, and checks
// that the model takes the sizes that it gets.
void checkImages(Config &config, ModelSpec &spec);

// A list of whole numbers from 1, each with the key's name and place.
std::vector<Extent> readExtents(Config &config, llvm::StringRef key,
                                llvm::ArrayRef<int64_t> absent);

// Self-attention over all tokens, with biases, scaled by head size^(-1/2);
// feed-forward with biases. Keys num_attention_heads, intermediate_size,
// hidden_act.
Attention imageAttention(Config &config, const Extent &hidden, int64_t heads);
FeedForward imageFeedForward(Config &config, const Extent &size,
                             llvm::StringRef activation);

// A factor per channel on every branch: LayerScale.
void scaleBranches(std::vector<Unit> &units, double init,
                   mlir::LocationAttr at);

} // namespace mille::import
