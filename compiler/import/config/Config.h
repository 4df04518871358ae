// A Hugging Face config.json read in the families' words, and what a family is:
// a description, names of tensors, keys and tensors that do not matter.
#pragma once
#include "compiler/import/Fields.h"
#include "compiler/import/ImageSize.h"
#include "compiler/import/StoredTensors.h"
#include "compiler/import/schemes/Recipe.h"

namespace mille::import {

// How a family's config speaks of RoPE.
struct RopeKeys {
  double theta = 10000; // where absent
  // The part of a head that turns, where absent; none: whole heads, whatever.
  std::optional<double> partial = {};
  llvm::StringRef thetaKey = "rope_theta";
  llvm::StringRef partialKey = "partial_rotary_factor";
  transformer::Pairing pairing = transformer::Pairing::half;
  // Whose entry of rope_parameters counts, where kinds of layers have their
  // own.
  llvm::StringRef layerType = "";
  bool scaled = true; // by rope_scaling, where it is for all kinds of layers
  std::optional<double> trained = {}; // the class's trained length
  llvm::StringRef besides = ""; // a key beside the scaling's that others read
};

// A config's keys; absent ones have the defaults of the configuration class.
class Config : public Fields {
public:
  Config(const json::Document &document, Problems &problems,
         mlir::MLIRContext &context, StoredTensors *tensors);

  // The object under a key, read as a config of its own; empty where absent.
  Config(Config &outer, llvm::StringRef key);

  // The class the weights were saved from; empty: the base model.
  std::string architecture;
  // Whether the files hold a tensor; without files, everything is there.
  bool holds(llvm::StringRef name, llvm::StringRef otherwise);
  // Whether there are files, and they hold a tensor.
  bool filesHold(llvm::StringRef name, llvm::StringRef otherwise);

  // Each pair of RoPE is slowed by one of these, where there are some: what a
  // scaling came to, in files that do not say which.
  std::vector<double> ropeFactors;
  // In place of image_size: always, and where any will do.
  std::optional<ImageSize> imageSize, imageSizeAtHand;

  transformer::Activation activation(llvm::StringRef key,
                                     llvm::StringRef absent);
  // Where a name is part of a word: "gated-silu".
  static std::optional<transformer::Activation>
  activationNamed(llvm::StringRef name);
  Rope rope(const Extent &headDim, const RopeKeys &keys = {});
  // rope_scaling where it says something, else rope_parameters, and its key;
  // null where neither is there.
  const json::Value *ropeObject(llvm::StringRef &key);
  // The keys of an object inside the config.
  Fields inside(const json::Value &object, llvm::StringRef what) {
    return Fields(file(), object, what, problems, context);
  }
  // The key of the two that the config has, else the first.
  llvm::StringRef either(llvm::StringRef key, llvm::StringRef other);
  // Whole numbers, or true and false, in a list; empty where absent.
  std::vector<int64_t> integers(llvm::StringRef key);
  // A list of words, or one string of them with bars between.
  std::vector<std::string> words(llvm::StringRef key);
  // The kind of each layer: layer_types, each entry one of `known`, or where
  // there are none the usual ones.
  std::vector<std::string>
  layerTypes(const Extent &layers, llvm::ArrayRef<llvm::StringRef> known,
             llvm::function_ref<llvm::StringRef(int64_t)> usual);
  // Head size where it is hidden_size / heads.
  Extent dividedHead(const Extent &hidden, const Extent &heads);

  Problems &problems;

private:
  // One object about RoPE, under its key.
  struct Scaling {
    Fields fields;
    llvm::StringRef key;
    std::string type;
  };
  std::optional<Scaling> scalingOf(const RopeKeys &keys);
  const json::Value *scalingOfLayers(const json::Value *object,
                                     llvm::StringRef &key,
                                     const RopeKeys &keys);
  void slowPairs(const Extent &headDim, Rope &rope);
  void checkPart(Fields &fields, const RopeKeys &keys);
  void scaleRope(Scaling &scaling, const RopeKeys &keys, double theta,
                 Rope &rope);
  void scaleYarn(Scaling &scaling, double theta, double trained, Rope &rope);
  void scaleByFactors(Scaling &scaling, double trained, Rope &rope);
  double trainedTokens(Scaling &scaling, const RopeKeys &keys);
  mlir::MLIRContext &context;
  StoredTensors *tensors;
};

// A parameter in Mille's words and in the file's; the stars of both are the
// same numbers (the layer's). .weight and .bias follow both where the words
// name neither. Several entries for one parameter are tried in order. `%`
// counts tensors of which the parameter is a stack (experts).
struct TensorName {
  llvm::StringRef mille, file;
  bool transposed = false;     // stored [in, out]
  int64_t part = 0, parts = 1; // of equal parts along the output
  bool leadingOne = false;     // stored [1, ...]
};

struct Family {
  llvm::StringRef modelType;
  llvm::ArrayRef<llvm::StringRef> architectures; // the first is the base model
  llvm::StringRef prefix; // of base tensors, in files that have it
  llvm::ArrayRef<TensorName> tensors;
  llvm::ArrayRef<llvm::StringRef> otherTensors; // no news when in a file
  llvm::ArrayRef<llvm::StringRef> silentKeys; // do not change the forward pass
  Scheme scheme;                              // of --weights=random
  void (*describe)(Config &config, ModelSpec &model);
  bool encoderDecoder = false;
  llvm::ArrayRef<TensorName> usual = {}; // names as other families have them
};

// Keys that never matter, and those of a family: the rest is noted as unknown.
void ignoreUsual(Config &config, llvm::ArrayRef<llvm::StringRef> silent);

// How many classes there are: id2label's, else num_labels, else 2.
Extent readLabels(Config &config);

// x + F(N(x)) for both branches, or N(x + F(x)).
std::vector<Unit> preNormUnits(const PerLayer<Attention> &attention,
                               const PerLayer<FeedForward> &feedForward,
                               const Norm &norm);
std::vector<Unit> postNormUnits(const PerLayer<Attention> &attention,
                                const PerLayer<FeedForward> &feedForward,
                                const Norm &norm);
// Cross attention between the two, its norm where theirs are.
std::vector<Unit> withCross(std::vector<Unit> units, Attention cross,
                            const Norm &norm, bool before);

} // namespace mille::import
