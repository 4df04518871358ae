// Reads a Hugging Face config.json with the keys of its family, and defines
// what a family is: a description, names of tensors, and the keys and tensors
// that do not matter.
#pragma once
#include "compiler/import/Fields.h"
#include "compiler/import/ImageSize.h"
#include "compiler/import/StoredTensors.h"
#include "compiler/import/schemes/Recipe.h"

namespace mille::import {

// How a family's config describes RoPE.
struct RopeKeys {
  double theta = 10000; // where absent
  // The default for the part of a head that turns. Empty: heads always turn
  // whole.
  std::optional<double> partial = {};
  bool evenPart = false; // the class's code fails if an odd number turns
  llvm::StringRef thetaKey = "rope_theta";
  llvm::StringRef partialKey = "partial_rotary_factor";
  transformer::Pairing pairing = transformer::Pairing::half;
  // The kind of layers whose entry of rope_parameters to read, if each kind has
  // its own.
  llvm::StringRef layerType = "";
  bool scaled = true; // applies a rope_scaling that is for all kinds of layers
  std::optional<double> trained = {}; // the class's trained length
  llvm::StringRef besides = ""; // a key of that object that other code reads
};

// The keys of a config. Absent keys have the defaults of the configuration
// class.
class Config : public Fields {
public:
  Config(const json::Document &document, Problems &problems,
         mlir::MLIRContext &context, StoredTensors *tensors);

  // The object under a key as another config; empty if absent.
  Config(Config &outer, llvm::StringRef key);

  // The class that saved the weights; empty: the base model.
  std::string architecture;
  // Whether the files hold a tensor; true if there are no files.
  bool holds(llvm::StringRef name, llvm::StringRef otherwise);
  // Whether there are files, and they hold a tensor.
  bool filesHold(llvm::StringRef name, llvm::StringRef otherwise);

  // The factor by which each pair of RoPE is slowed, if there are any: the
  // result of a scaling, in files that do not name the scaling.
  std::vector<double> ropeFactors;
  // Replace image_size: the first always, the second if the model takes any
  // size.
  std::optional<ImageSize> imageSize, imageSizeAtHand;
  // Each run chooses the size, up to this one where it is given.
  bool anyImageSize = false;
  std::optional<ImageSize> mostImageSize;

  transformer::Activation activation(llvm::StringRef key,
                                     llvm::StringRef absent);
  // An activation whose name is part of a word: "gated-silu".
  static std::optional<transformer::Activation>
  activationNamed(llvm::StringRef name);
  // The word of an activation; "" if configs have none for it.
  static llvm::StringRef wordOf(transformer::Activation activation);
  Rope rope(const Extent &headDim, const RopeKeys &keys = {});
  // rope_scaling if it has content, else rope_parameters, and the key; null if
  // neither is there.
  const json::Value *ropeObject(llvm::StringRef &key);
  // The keys of an object inside the config.
  Fields inside(const json::Value &object, llvm::StringRef what) {
    return Fields(file(), object, what, problems, context);
  }
  // Whichever of the two keys the config has, else the first.
  llvm::StringRef either(llvm::StringRef key, llvm::StringRef other);
  // A list of whole numbers or of booleans; empty if absent.
  std::vector<int64_t> integers(llvm::StringRef key);
  // A list of words, or a string of words separated by bars.
  std::vector<std::string> words(llvm::StringRef key);
  // The kind of each layer: the entries of layer_types, each one of `known`, or
  // `usual` if absent.
  std::vector<std::string>
  layerTypes(const Extent &layers, llvm::ArrayRef<llvm::StringRef> known,
             llvm::function_ref<llvm::StringRef(int64_t)> usual);
  // The head size hidden_size / heads.
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

// A parameter's name in Mille and in the file. The stars of both stand for the
// same numbers (of the layer). If the names end in neither .weight nor .bias,
// both are appended. Several entries for one parameter are tried in order. `%`
// numbers the tensors that are stacked into the parameter (experts).
struct TensorName {
  llvm::StringRef mille, file;
  bool transposed = false;     // stored [in, out]
  int64_t part = 0, parts = 1; // takes one of equal parts along the output
  bool leadingOne = false;     // stored [1, ...]
};

struct Family {
  llvm::StringRef modelType;
  llvm::ArrayRef<llvm::StringRef> architectures; // the first is the base model
  llvm::StringRef prefix; // some files put it before names of base tensors
  llvm::ArrayRef<TensorName> tensors;
  llvm::ArrayRef<llvm::StringRef> otherTensors; // ignored without a note
  llvm::ArrayRef<llvm::StringRef> silentKeys; // do not change the forward pass
  Scheme scheme;                              // of --weights=random
  void (*describe)(Config &config, ModelSpec &model);
  bool encoderDecoder = false;
  llvm::ArrayRef<TensorName> usual = {}; // names shared with other families
};

// Marks the keys that never matter, and the family's `silent` ones, as known.
// Other keys that nobody read get a note.
void ignoreUsual(Config &config, llvm::ArrayRef<llvm::StringRef> silent);

// The number of classes: that of id2label, else num_labels, else 2.
Extent readLabels(Config &config);

// x + F(N(x)) for both branches, or N(x + F(x)).
std::vector<Unit> preNormUnits(const PerLayer<Attention> &attention,
                               const PerLayer<FeedForward> &feedForward,
                               const Norm &norm);
std::vector<Unit> postNormUnits(const PerLayer<Attention> &attention,
                                const PerLayer<FeedForward> &feedForward,
                                const Norm &norm);
// Adds cross attention between the two units, with its norm placed as theirs.
std::vector<Unit> withCross(std::vector<Unit> units, Attention cross,
                            const Norm &norm, bool before);

} // namespace mille::import
