// The state of one walk over a ModelSpec. The files Build*.cpp hold its
// functions: Build the walk; BuildEmbedding, BuildTokens, BuildHead and
// BuildVectors the ends of a stack; BuildUnit, BuildBranch, BuildAttention,
// BuildPositions, BuildFeedForward and BuildConvolution the layers. Must be
// used by them only.
#pragma once
#include "compiler/import/model/Build.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace mille::import {

// The size that is the number of tokens of an image whose size runs choose.
constexpr llvm::StringLiteral imageTokens = "image_tokens";

// Whether a stream has as many tokens as a run says.
inline bool isSized(mlir::Value stream) {
  return llvm::cast<mlir::RankedTensorType>(stream.getType()).isDynamicDim(1);
}

class ModelBuilder {
public:
  ModelBuilder(const ModelSpec &spec, WeightSource &weights,
               const BuildOptions &options, mlir::MLIRContext &context);
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  using Value = mlir::Value;
  struct Input {
    std::string name;
    mlir::RankedTensorType type;
    mlir::DictionaryAttr attributes;
  };

  mlir::Location where(mlir::LocationAttr at);
  // [batch, tokens, channels], of the current stack's tokens
  mlir::RankedTensorType stream(int64_t channels);
  static Dimension dim(const Extent &a);
  static Dimension dim(const Extent &a, const Extent &b);

  // Declares a parameter once; the same name again is the same parameter.
  mlir::FlatSymbolRefAttr parameter(llvm::StringRef name, Role role,
                                    llvm::SmallVector<Dimension, 2> shape,
                                    mlir::LocationAttr at, double init = 0);
  // The bias of a linear with `in` input channels.
  mlir::FlatSymbolRefAttr bias(llvm::StringRef linear, Role of, Dimension in,
                               llvm::SmallVector<Dimension, 2> shape,
                               mlir::LocationAttr at);
  // Asks `weights` for a value, and adds the place in the model to the
  // question.
  mlir::Attribute valueOf(Wanted wanted);
  // fixedRows: as that of transformer.parameter.
  void declare(llvm::StringRef name, llvm::ArrayRef<Dimension> shape,
               mlir::Attribute value, mlir::LocationAttr at,
               llvm::ArrayRef<int64_t> fixedRows = {});
  Value linear(Value input, llvm::StringRef name, Role role, Dimension out,
               Dimension in, bool bias, mlir::LocationAttr at,
               double scale = 1);
  Value apply(Value input, mlir::FlatSymbolRefAttr weight,
              mlir::FlatSymbolRefAttr bias, int64_t out, mlir::LocationAttr at,
              double scale = 1);
  // A norm of the stream's width, or of another.
  transformer::NormAttr norm(const Norm &norm, llvm::StringRef name,
                             const Extent *width = nullptr);
  transformer::NormAttr norm(const Norm &norm, llvm::StringRef name,
                             Dimension width, int64_t group);
  Value normed(Value x, const Norm &norm, llvm::StringRef name,
               const Extent *width = nullptr);
  transformer::ScaleAttr scale(const Scale &scale, const Unit &unit,
                               llvm::StringRef slot, int64_t layer);
  mlir::ArrayAttr norms(const PerLayer<Norm> &slot, const Unit &unit,
                        llvm::StringRef name, int64_t layer, bool shared);

  // The prefix of a layer's parameters: "encoder.layers.0.".
  std::string layerPrefix(int64_t layer);
  // The name of a parameter of the current stack.
  std::string named(llvm::StringRef name);

  Value run(const Stack &stack);
  Value embed();
  // The current stack's word table, or, if `shared`, that of all stacks.
  mlir::FlatSymbolRefAttr wordTable(bool shared);
  Value addTables(Value words, llvm::ArrayRef<Value> ids,
                  llvm::ArrayRef<mlir::Attribute> tables,
                  llvm::ArrayRef<int64_t> offsets);
  Value positions(mlir::FlatSymbolRefAttr &table, const Extent &width);
  Value embedImage();
  Value embedMerged();
  Value embedSound();
  Value tokenNumbers(llvm::ArrayRef<int64_t> numbers);
  Value gatherTokens(Value x, llvm::ArrayRef<int64_t> index, int64_t group);
  mlir::FlatSymbolRefAttr convolution(llvm::StringRef name,
                                      llvm::SmallVector<Dimension, 2> shape,
                                      bool tokensFirst, mlir::LocationAttr at);
  mlir::FlatSymbolRefAttr tokenTable(const Image &image);
  Value resizedTable(const Image &image, Value pixels);
  mlir::Attribute baseRows(const Image &image, int64_t patches, bool &found);
  mlir::Attribute imagePositions(const Image &image);
  mlir::Attribute tokenRows(llvm::SmallVector<mlir::Attribute> parts,
                            int64_t leading, int64_t patches, bool bias);
  Value addTokenTable(Value x, mlir::FlatSymbolRefAttr table,
                      mlir::LocationAttr at);
  Value residual(Value x, const Unit &unit, int64_t layer);
  // Branches. `name` is the branch's: "layers.3.attn.".
  struct Heads {
    Value query, key, value;
  };
  Value attend(Value u, const Branch &branch, int64_t layer);
  mlir::Attribute computedBias(const PairBias &bias, llvm::StringRef name,
                               const Extent &heads, mlir::LocationAttr at);
  Value pairBias(const PairBias &bias, llvm::StringRef layerName,
                 const Attention &attention, Value like, mlir::LocationAttr at);
  Value rotateAxially(Value x, const AxialRope &rope, const Extent &heads,
                      const Extent &headDim, mlir::LocationAttr at);
  Value rotationOfRun(const AxialRope &rope, const Extent &headDim,
                      mlir::LocationAttr at);
  Value move(Value x, transformer::Move how, llvm::ArrayRef<int64_t> side,
             int64_t size, int64_t shift);
  Value intoWindows(Value x, const WindowPlan &plan);
  Value outOfWindows(Value x, const WindowPlan &plan);
  Value segments(const WindowPlan &plan);
  Heads project(Value u, const Attention &a, llvm::StringRef name,
                mlir::LocationAttr at);
  Heads projectLatent(Value u, const Attention &a, llvm::StringRef name,
                      mlir::LocationAttr at);
  void declareLatent(const Attention &a, llvm::StringRef name,
                     mlir::LocationAttr at);
  void splitQkv(const Attention &a, llvm::StringRef name,
                llvm::StringRef suffix, mlir::LocationAttr at);
  Value normHeads(Value x, const HeadNorm &norm, llvm::StringRef name,
                  const Extent &heads, const Extent &dim,
                  mlir::LocationAttr at);
  Value rotate(Value x, const Rope &rope, int64_t heads, int64_t dim,
               int64_t start, mlir::LocationAttr at);
  llvm::SmallVector<Value> scoreBiases(Value u, const Attention &a,
                                       llvm::StringRef name,
                                       mlir::LocationAttr at);
  mlir::Attribute distances(const ContentTable &table, mlir::LocationAttr at);
  Value contentBias(Value x, bool ofKey, const Attention &attention,
                    llvm::StringRef name, mlir::LocationAttr at);
  Value countTokens(Value ids, mlir::IntegerAttr padding, int64_t first,
                    int64_t each, mlir::LocationAttr at);
  // Numbers the unmasked tokens n = 0, 1, ... by floor(n / each).
  Value countShown(int64_t each, mlir::LocationAttr at);
  Value scoreOfValue(Value value, const Attention &attention,
                     llvm::StringRef name, mlir::LocationAttr at);
  Value distanceBias(Value like, const Attention &attention,
                     llvm::StringRef name, mlir::LocationAttr at);
  Value attendSoftmax(Value u, const Heads &heads, const Attention &a,
                      llvm::StringRef name, double scale,
                      mlir::LocationAttr at);
  Value attendLinear(const Heads &heads, const Attention &a,
                     llvm::StringRef name, double scale, mlir::LocationAttr at);
  Value feedForward(Value u, const Branch &branch, int64_t layer);
  Value convolve(const Branch &branch, int64_t layer);
  Value neighbours(const Convolution &c, llvm::StringRef name,
                   mlir::LocationAttr at);
  Value dense(Value u, const FeedForward &f, const Extent &size,
              llvm::StringRef name, mlir::LocationAttr at);
  Value gated(Value up, Value gate, const FeedForward &f,
              mlir::LocationAttr at);
  Value mixture(Value u, const FeedForward &f, llvm::StringRef name,
                mlir::LocationAttr at);
  Value expertLinear(Value input, Value experts, const Experts &e,
                     llvm::StringRef name, Role role, Dimension out,
                     Dimension in, bool bias, mlir::LocationAttr at);
  Value shared(Value u, const FeedForward &f, llvm::StringRef name,
               mlir::LocationAttr at);
  // input + a learned scalar if `wanted`, else input.
  Value shifted(Value input, bool wanted, llvm::StringRef name,
                mlir::LocationAttr at);
  // A stored matrix holds gate and up along `axis`; both become slices of it.
  void splitFused(GateLayout layout, bool activatedSecond, Dimension half,
                  int64_t axis, llvm::StringRef name, llvm::StringRef suffix,
                  llvm::SmallVector<Dimension, 2> shape, mlir::LocationAttr at);
  // The type of `like` with another number of channels.
  mlir::RankedTensorType as(Value like, int64_t channels);

  Value transformed(Value x, const HeadTransform &transform,
                    llvm::StringRef name, const Extent *&width,
                    mlir::LocationAttr at);
  void head(Value x);
  void headByRows(Value x, const Head &head, const Extent &width);
  void pool(Value x);
  Value poolBy(Value x, transformer::Pool kind, int64_t skip);
  Value poolByProbe(Value x, const Probe &probe);
  Value classify(Value x, const Classifier &classifier);
  void compare(const Contrast &contrast);
  mlir::Attribute identityAndZeros(int64_t n);
  Value withChannel(Value vector, llvm::StringRef name, mlir::Attribute factor,
                    mlir::Attribute last);

  void declareInputs();
  void declareInputsOf(const Stack &stack);
  void declareImage(const Image &image);
  void findParts(const Image &image, std::vector<transformer::PartAttr> &parts,
                 std::vector<int64_t> &least);
  std::string imageTokensOf(const Stack &current);
  void declareIds(const Stack &stack);
  void declareInput(llvm::StringRef name, mlir::Type type,
                    llvm::StringRef absent, int64_t below, bool decoder);
  // An input of the current stack, or null if it has none with this name.
  Value input(llvm::StringRef name);
  Value inputNamed(llvm::StringRef name);
  void dropUnusedInputs();
  void finish();
  void keep(Value x, int64_t index, mlir::LocationAttr at);
  void describe(transformer::ModelOp model);

  const ModelSpec &spec;
  WeightSource &weights;
  const BuildOptions &options;
  mlir::MLIRContext &context;
  mlir::OpBuilder op;
  mlir::Type f32;
  mlir::func::FuncOp forward;
  std::vector<Input> inputs;
  struct Output {
    std::string name;
    Value value;
    bool oneNumber = false;  // drops the last dimension, 1, from the shape
    std::string tokens = {}; // their size, of an image of any size
  };
  std::vector<Output> outputs;
  size_t outputsBefore = 0;                    // of the stacks before the last
  const Stack *stack = nullptr;                // the current one
  const Attention *attention = nullptr;        // of the branch at hand
  int64_t tokens = mlir::ShapedType::kDynamic; // of the current stream
  // The stream that cross attention reads: that before the current stack.
  Value memory, memoryMask;
  const Extent *memoryWidth = nullptr;
  Value layerInput;           // of the current layer
  Value sharedBias;           // by distance, for all layers of the stack
  Value sharedPairBias;       // by pair, for all layers of the stack
  Value patchRotation;        // of an image of any size
  std::vector<Value> vectors; // of each stack, pooled and projected
  Value pooled;               // of the current stack, before the projection
  std::map<std::vector<int64_t>, Value> numbered; // what tokenNumbers made
  llvm::StringSet<> made;
};

} // namespace mille::import
