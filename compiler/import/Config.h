// A Hugging Face config.json read in the families' words, and what a family is:
// a description, names of tensors, keys and tensors that do not matter.
#pragma once
#include "compiler/import/Fields.h"
#include "compiler/import/ImageSize.h"
#include "compiler/import/Recipe.h"
#include "compiler/import/StoredTensors.h"

namespace mille::import {

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

  // In place of image_size: always, and where any will do.
  std::optional<ImageSize> imageSize, imageSizeAtHand;

  transformer::Activation activation(llvm::StringRef key,
                                     llvm::StringRef absent);
  // Where a name is part of a word: "gated-silu".
  static std::optional<transformer::Activation>
  activationNamed(llvm::StringRef name);
  Rope rope(const Extent &headDim, double theta);
  // Head size where it is hidden_size / heads.
  Extent dividedHead(const Extent &hidden, const Extent &heads);

  Problems &problems;

private:
  void scaleRope(Fields &scaling, llvm::StringRef key, Rope &rope);
  mlir::MLIRContext &context;
  StoredTensors *tensors;
};

// A parameter in Mille's words and in the file's; the stars of both are the same
// numbers (the layer's). .weight and .bias follow both where the words name
// neither. Several entries for one parameter are tried in order.
struct TensorName {
  llvm::StringRef mille, file;
  bool transposed = false;    // stored [in, out]
  int64_t part = 0, parts = 1; // of equal parts along the output
  bool leadingOne = false;     // stored [1, ...]
};

struct Family {
  llvm::StringRef modelType;
  llvm::ArrayRef<llvm::StringRef> architectures; // the first is the base model
  llvm::StringRef prefix;      // of base tensors, in files that have it
  llvm::ArrayRef<TensorName> tensors;
  llvm::ArrayRef<llvm::StringRef> otherTensors; // no news when in a file
  llvm::ArrayRef<llvm::StringRef> silentKeys;   // do not change the forward pass
  Scheme scheme;               // of --weights=random
  void (*describe)(Config &config, ModelSpec &model);
  bool encoderDecoder = false;
};

// Keys that never matter, and those of a family: the rest is noted as unknown.
void ignoreUsual(Config &config, llvm::ArrayRef<llvm::StringRef> silent);

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
