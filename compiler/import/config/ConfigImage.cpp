// Reads the keys of image models. Must not name a family.
#include "compiler/import/config/ConfigImage.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

std::vector<Extent> mille::import::readExtents(Config &config, StringRef key,
                                               llvm::ArrayRef<int64_t> absent) {
  std::vector<Extent> extents;
  const json::Value *list = config.list(key);
  if (!list) {
    for (int64_t value : absent)
      extents.push_back({value, key.str(), config.at(key)});
    return extents;
  }
  for (const json::Value &item : list->items) {
    Extent extent{1, key.str(), config.at(item)};
    if (!item.whole || item.integer < 1 || item.integer > largestExtent)
      config.problems.error(extent.at, key + " has " + item.describe() +
                                           " but its entries are whole numbers "
                                           "from 1");
    else
      extent.value = item.integer;
    extents.push_back(extent);
  }
  return extents;
}

// One number for both sides, or [height, width].
static std::pair<Extent, Extent> readSides(Config &config, StringRef key,
                                           int64_t absent) {
  const json::Value *value = config.take(key);
  if (!value || value->kind != json::Kind::array) {
    Extent side = config.extent(key, absent, 1 << 16);
    return {side, side};
  }
  std::vector<Extent> sides = readExtents(config, key, {});
  if (sides.size() != 2) {
    config.error(key, key + " has " + Twine(sides.size()) +
                          " entries but must be a number or [height, width]");
    sides.resize(2, Extent{1, key.str(), config.at(key)});
  }
  return {sides[0], sides[1]};
}

Image mille::import::readImage(Config &config, int64_t imageSize,
                               int64_t patchSize, bool anySize) {
  Image image;
  image.channels = config.extent("num_channels", 3, 1 << 16);
  std::tie(image.height, image.width) =
      readSides(config, "image_size", imageSize);
  image.ownHeight = image.height;
  image.ownWidth = image.width;
  auto size = config.imageSize;
  if (!size && anySize)
    size = config.imageSizeAtHand;
  if (size) {
    image.height.value = size->height;
    image.width.value = size->width;
    if (config.imageSize)
      image.height.key = image.width.key = "--image-size";
  }
  std::tie(image.patchHeight, image.patchWidth) =
      readSides(config, "patch_size", patchSize);
  for (auto [side, patch] :
       {std::pair<Extent *, Extent *>{&image.height, &image.patchHeight},
        {&image.width, &image.patchWidth}})
    if (side->value < patch->value) {
      config
          .error("image_size", side->key + " is " + Twine(side->value) +
                                   " but patch_size is " + Twine(patch->value))
          .note(patch->at, "patch_size is given here");
      side->value = patch->value;
    }
  return image;
}

namespace {

// Whether something in the stack is made for one grid of patches.
bool isOfOneGrid(const Stack &stack) {
  auto isFixed = [](const Unit &unit) {
    return llvm::any_of(unit.branches, [](const Branch &branch) {
      return llvm::any_of(branch.attention.all, [](const Attention &a) {
        return a.windows ? a.windows->followsImage : !a.pairBiases.empty();
      });
    });
  };
  return llvm::any_of(stack.units, isFixed) ||
         llvm::any_of(stack.layerUnits, [&](const std::vector<Unit> &units) {
           return llvm::any_of(units, isFixed);
         });
}

// The positions of one stack, for the images that it gets.
void checkPositions(Config &config, Image &image) {
  if (!image.positions || !image.resized())
    return;
  const Grid own = image.ownGrid();
  assert(image.resize && "every family with positions resizes them");
  if (own.height == own.width)
    return;
  config
      .error("image_size",
             image.height.key + " is " +
                 (image.ofRuns
                      ? std::string("any")
                      : "[" + std::to_string(image.height.value) + ", " +
                            std::to_string(image.width.value) + "]") +
                 " but the learned positions are for " + Twine(own.height) +
                 " x " + Twine(own.width) + " patches")
      .note(image.ownHeight.at,
            "the family resizes positions of a square only");
}

} // namespace

void mille::import::checkImages(Config &config, ModelSpec &spec) {
  llvm::SmallVector<Stack *> stacks;
  for (Stack &stack : spec.before)
    stacks.push_back(&stack);
  stacks.push_back(&spec);
  const bool isFixed =
      llvm::any_of(stacks, [](const Stack *s) { return isOfOneGrid(*s); });
  for (Stack *stack : stacks) {
    if (!stack->image)
      continue;
    Image &image = *stack->image;
    if (config.anyImageSize) {
      image.ofRuns = true;
      image.height = image.ownHeight;
      image.width = image.ownWidth;
      image.height.key = image.width.key = "--image-size";
      if (isFixed)
        config.error("image_size",
                     "--image-size is any but the model has windows or biases "
                     "between pairs of patches that are made for one size");
    }
    if (const auto &most = config.mostImageSize) {
      image.mostHeight = most->height;
      image.mostWidth = most->width;
      if (most->height < image.patchHeight.value ||
          most->width < image.patchWidth.value)
        config.error("patch_size",
                     "--max-image-size is " + Twine(most->height) + "x" +
                         Twine(most->width) + " but patch_size is " +
                         Twine(image.patchHeight.value) + "x" +
                         Twine(image.patchWidth.value));
    }
    checkPositions(config, image);
  }
}

Attention mille::import::imageAttention(Config &config, const Extent &hidden,
                                        int64_t heads) {
  Attention a;
  a.heads = a.kvHeads = config.extent("num_attention_heads", heads, 1 << 16);
  a.headDim = a.valueDim = config.dividedHead(hidden, a.heads);
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  a.qBias = a.kBias = a.vBias = a.oBias = true;
  return a;
}

FeedForward mille::import::imageFeedForward(Config &config, const Extent &size,
                                            StringRef activation) {
  FeedForward f;
  f.size = size;
  f.act = config.activation("hidden_act", activation);
  f.inBias = f.outBias = true;
  return f;
}

void mille::import::scaleBranches(std::vector<Unit> &units, double init,
                                  mlir::LocationAttr at) {
  Scale scale;
  scale.kind = ScaleKind::learned_channel;
  scale.init = init;
  scale.at = at;
  for (Unit &unit : units)
    unit.branchScale.all = {scale};
}
