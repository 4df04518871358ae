// What ConvertToKernel's files share: the converted values and their rows,
// weights, and the place at the beginning of the function for values that all
// layers read.
// Must not be included outside of these files.
#pragma once
#include "compiler/fuse/KernelBuilder.h"
#include "compiler/fuse/Passes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <tuple>

namespace mille {

// The rows of a value, which its leading dimensions [batch, tokens] or [batch,
// tokens, slots] have become.
struct Space {
  // Tokens of a sequence: a size of the run, or a number. Neither: a row per
  // batch entry.
  llvm::StringRef size;
  int64_t count = 0;
  int64_t slots = 1;                // experts of each row
  mlir::Operation *route = nullptr; // whose experts the rows are sorted by

  bool perSequence() const { return size.empty() && count == 0; }
  bool operator==(const Space &other) const {
    return size == other.size && count == other.count && slots == other.slots &&
           route == other.route;
  }
  bool operator!=(const Space &other) const { return !(*this == other); }
  // "batch * tokens"
  std::string text() const;
};

// The similarity that `returned` is, perhaps after an affine, or null: an
// output by name, since its columns are a run-time size.
transformer::SimilarityOp similarityOf(mlir::Value returned);

class Converter {
public:
  Converter(transformer::ModelOp model, mlir::func::FuncOp function)
      : model(model), symbols(model), function(function),
        head(model.getContext()), body(model.getContext()) {}

  // Replaces the function by its form in the `kernel` dialect.
  mlir::LogicalResult run();

private:
  // The function (ConvertToKernel.cpp).
  mlir::func::FuncOp makeFunction();
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convert(mlir::Operation *op);
  mlir::LogicalResult convertLayers(transformer::LayersOp op);
  llvm::SmallVector<mlir::Value>
  streamsOf(transformer::LayersOp op, llvm::SetVector<llvm::StringRef> &names);
  void recordBodies(transformer::LayersOp op);
  mlir::LogicalResult convertReturn(mlir::func::ReturnOp op);

  // Element by element (ConvertElements.cpp).
  mlir::LogicalResult convertElementwise(mlir::Operation *op, Scalar scalar);
  mlir::LogicalResult convertAffine(transformer::AffineOp op);
  mlir::LogicalResult convertClamp(transformer::ClampOp op);
  mlir::LogicalResult convertGate(transformer::GateOp op);
  mlir::LogicalResult convertSoftcap(transformer::SoftcapOp op);

  // Products and tables (ConvertOps.cpp).
  mlir::LogicalResult convertEmbed(transformer::EmbedOp op);
  mlir::LogicalResult convertLinear(transformer::LinearOp op);
  mlir::LogicalResult convertLinearByHead(transformer::LinearByHeadOp op);
  static mlir::Value scaledPlusBias(mlir::OpBuilder &builder,
                                    mlir::Location location, double scale,
                                    mlir::ValueRange x);

  // Attention (ConvertAttention.cpp), its rotations and biases
  // (ConvertBias.cpp).
  struct Biases;
  void findPrologues();
  mlir::LogicalResult convertRotate(transformer::RotateOp op);
  mlir::LogicalResult convertBias(mlir::Operation *op);
  mlir::LogicalResult convertAttend(transformer::AttendOp op);
  mlir::LogicalResult convertLinearAttend(transformer::LinearAttendOp op);
  mlir::Value rotationOf(transformer::RotateOp op);
  mlir::FailureOr<mlir::Value> headScaleOf(transformer::AttendOp op);
  // Of an attend or its gradient.
  template <typename Op>
  mlir::FailureOr<mlir::Value> queryScaleOf(Op op, mlir::Value queries);
  template <typename Op>
  mlir::FailureOr<mlir::Value> tokensOfSequence(Op op, mlir::Value value);
  mlir::LogicalResult addBias(transformer::AttendOp op, mlir::Value bias,
                              Biases &biases);
  mlir::LogicalResult addTable(transformer::AttendOp op, mlir::Attribute rows,
                               kernel::BiasBy by, Biases &biases);
  mlir::Value contentOf(transformer::ContentBiasOp op);
  mlir::FailureOr<mlir::Value> tableOf(transformer::AttendOp op,
                                       const Biases &biases);
  mlir::LogicalResult addSlopes(mlir::Operation *op,
                                transformer::PositionBiasOp slopes,
                                Biases &biases);
  // The same of a table that a step changes.
  mlir::LogicalResult addTrainedBias(transformer::AttendGradientOp op,
                                     mlir::Value bias, Biases &biases);
  mlir::LogicalResult addTrainedTable(mlir::Operation *op, mlir::Value bias,
                                      Biases &biases);
  mlir::LogicalResult addKeyHeads(mlir::Operation *op, mlir::Value key,
                                  transformer::KeyHeadBiasOp bias,
                                  Biases &biases);
  mlir::FailureOr<mlir::Value> trainedTableOf(const Biases &biases);

  // Experts (ConvertExperts.cpp).
  struct Routing {
    mlir::Value weights, order, place, starts;
    mlir::Value experts; // of each sorted row, once something reads them
  };
  // The routing by which `experts` were chosen; null after an error.
  Routing *routingOf(mlir::Operation *op, mlir::Value experts);
  // The expert of each row that is sorted by expert.
  mlir::Value sortedExperts(mlir::Location location, Routing &routing,
                            mlir::Value rows);
  mlir::LogicalResult convertExperts(transformer::RouteOp op);
  mlir::LogicalResult convertExperts(transformer::DispatchOp op);
  mlir::LogicalResult convertExperts(transformer::CombineOp op);
  mlir::LogicalResult convertExpertLinear(transformer::LinearOp op);
  mlir::LogicalResult convertExperts(transformer::RouteGradientOp op);
  mlir::LogicalResult convertExperts(transformer::RouteSharesOp op);
  mlir::LogicalResult convertExperts(transformer::SharesGradientOp op);
  mlir::LogicalResult convertExperts(transformer::BalanceLossOp op);
  mlir::LogicalResult convertExperts(transformer::SlotProductsOp op);
  mlir::LogicalResult addExpertBias(transformer::WeightGradientOp op,
                                    Routing &routing);
  // The route of the loop back that repeats one of the forward loop.
  mlir::Operation *repeatedRoute(mlir::Block &block, mlir::Operation *route);

  // Images (ConvertImages.cpp).
  mlir::LogicalResult checkPixels(mlir::Operation *op, mlir::Value pixels);
  mlir::LogicalResult convertPatches(transformer::PatchesOp op);
  mlir::LogicalResult convertPatchTable(transformer::PatchTableOp op);
  mlir::LogicalResult convertPatchRotation(transformer::PatchRotationOp op);
  mlir::LogicalResult convertMovePatches(transformer::MovePatchesOp op);
  mlir::LogicalResult convertWindowSegments(transformer::WindowSegmentsOp op);
  mlir::Value sideOf(mlir::Value pixels, unsigned axis);

  // Tokens (ConvertTokens.cpp).
  mlir::LogicalResult convertPool(transformer::PoolOp op);
  mlir::LogicalResult convertReverseTokens(transformer::ReverseTokensOp op);
  mlir::LogicalResult convertGatherTokens(transformer::GatherTokensOp op);
  mlir::LogicalResult convertTokenNumbers(transformer::TokenNumbersOp op);
  mlir::LogicalResult convertCountTokens(transformer::CountTokensOp op);
  mlir::LogicalResult convertConstant(transformer::ConstantOp op);
  mlir::LogicalResult convertKeep(transformer::KeepOp op);
  mlir::Value poolIndex(mlir::Location location, mlir::Value read,
                        mlir::Value tokens, transformer::Pool kind,
                        int64_t skip, int64_t id);
  mlir::Value tokenNumbers(mlir::Location location,
                           mlir::DenseI64ArrayAttr numbers);

  // States (ConvertState.cpp).
  mlir::LogicalResult convertRemember(transformer::RememberOp op);
  mlir::LogicalResult convertRecall(transformer::RecallOp op);
  mlir::LogicalResult convertPositions(transformer::PositionsOp op);
  mlir::LogicalResult convertRecurrence(transformer::LinearAttendOp op,
                                        mlir::Value decay);
  mlir::Value recall(mlir::OpBuilder &builder, mlir::Location location,
                     mlir::Value state, int64_t index, Space space);

  // A training step: products and tables, attention, the loss
  // (ConvertTraining.cpp), and what is computed element by element or row by
  // row (ConvertGradients.cpp).
  mlir::LogicalResult convertWeightGradient(transformer::WeightGradientOp op);
  mlir::LogicalResult convertEmbedGradient(transformer::EmbedGradientOp op);
  mlir::LogicalResult convertAttendGradient(transformer::AttendGradientOp op);
  mlir::LogicalResult checkAttendGradient(transformer::AttendGradientOp op);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  queryFactors(transformer::AttendGradientOp op);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  headFactors(transformer::AttendGradientOp op);
  mlir::Value timesFactors(mlir::Location location, mlir::Value x,
                           mlir::ValueRange factors, mlir::Value like);
  mlir::LogicalResult convertBiasGradient(transformer::BiasGradientOp op);
  mlir::LogicalResult convertBiasGradient(transformer::KeyHeadGradientOp op);
  // Gives what a backward pass has of biases to the ops that read it.
  void setBiasGradients(transformer::AttendGradientOp op,
                        kernel::AttentionBackwardOp backward);
  mlir::LogicalResult
  convertConstantGradient(transformer::ConstantGradientOp op);
  mlir::LogicalResult convertPoolGradient(transformer::PoolGradientOp op);
  mlir::LogicalResult convertCrossEntropy(transformer::CrossEntropyOp op);
  mlir::LogicalResult convertNumberLoss(transformer::SquaredErrorOp op);
  mlir::LogicalResult convertNumberLoss(transformer::BinaryCrossEntropyOp op);
  // Makes losses and gradients of (value, label), both times the weight.
  template <typename Op>
  mlir::LogicalResult addNumberLoss(Op op, Scalar loss, Scalar slope);
  mlir::LogicalResult convertDropout(transformer::DropoutOp op);
  mlir::LogicalResult convertCollect(transformer::CollectOp op);
  mlir::LogicalResult convertCollect(transformer::CollectedOp op);
  // Zeros, as many rows as an original has.
  mlir::Value zeroRows(mlir::Location location, mlir::Value like,
                       int64_t channels);
  mlir::LogicalResult convertSave(transformer::SaveOp op);
  mlir::LogicalResult convertSave(transformer::SavedOp op);
  mlir::LogicalResult convertNormGradient(transformer::NormGradientOp op);
  mlir::Value timesOnePlus(mlir::Location location, mlir::Value gradient,
                           mlir::Value weight, mlir::Value like);
  mlir::LogicalResult
  convertActivateGradient(transformer::ActivateGradientOp op);
  mlir::LogicalResult convertScaleGradient(transformer::ScaleGradientOp op);
  mlir::Value scaledRows(mlir::Location location, mlir::Value x, double scale,
                         mlir::Value like);
  mlir::Value shifted(mlir::Location location, mlir::Value ids,
                      mlir::Value rows, int64_t offset);
  // Numbers of a weight that a step changes, in another order.
  mlir::Value spread(mlir::Location location, mlir::Value weight,
                     llvm::ArrayRef<int64_t> from,
                     llvm::ArrayRef<int64_t> shape);
  // The memory of a parameter's gradient; null after an error.
  mlir::Value gradientOf(mlir::Operation *op, mlir::Attribute parameter);
  // Adds the sum over rows of the product of `factors` to a gradient. `to`: the
  // number of it that gets each column; empty: in turn.
  mlir::LogicalResult addColumns(mlir::Operation *op, mlir::ValueRange factors,
                                 mlir::Attribute parameter,
                                 llvm::ArrayRef<int64_t> to = {});
  // A weight that a step changes, as a matmul reads it; with `starts`, a stack
  // of them.
  mlir::Value packed(mlir::Location location, mlir::Value weight,
                     bool transposed, mlir::Value starts = {});
  // Keeps a value of the layer that is converted, or of the whole function. It
  // has the rows of `original`.
  void saveAs(mlir::Value original, mlir::Value value, llvm::StringRef name);
  // Whether weights change between runs, so that no run finds them packed.
  bool isTrained();

  // Outputs of run-time columns (ConvertSimilarity.cpp).
  mlir::LogicalResult convertSimilarity(transformer::SimilarityOp op);
  mlir::LogicalResult makeSimilarity(mlir::Value returned,
                                     mlir::StringAttr name);
  mlir::Value withColumn(mlir::Location location, mlir::Value x,
                         mlir::Attribute number);

  // Norms, scales and residual units (ConvertUnits.cpp).
  mlir::Value norm(mlir::Location location, transformer::NormAttr attribute,
                   mlir::Value input, mlir::Value rows,
                   transformer::ScaleAttr scale = {});
  mlir::Value normWeight(mlir::Location location, mlir::Attribute value,
                         int64_t columns);
  // `slot`: "branch_scale", how a session calls it where it follows a schedule.
  mlir::FailureOr<mlir::Value> scaleOperand(mlir::Operation *at,
                                            llvm::StringRef slot,
                                            transformer::ScaleAttr scale);
  std::string scheduleName(llvm::StringRef slot);
  mlir::LogicalResult convertResidual(transformer::ResidualOp op);

  // Rows (ConvertSpaces.cpp): the space of a value of `type` that is computed
  // from a value in `from`; numbers of rows and tokens; shapes.
  Space spaceOf(mlir::Type type, Space from) const;
  Space spaceOf(mlir::Value original) const { return spaces.lookup(original); }
  void recordSpaces(mlir::Operation *op);
  mlir::Value tokensOf(Space space);
  mlir::Value rowsOf(Space space);
  mlir::Value rowsOf(mlir::Value original) { return rowsOf(spaceOf(original)); }
  transformer::ShapeAttr shapeOf(mlir::Type type, Space space);
  // Fails, with an error, where converted values do not have the same rows.
  mlir::LogicalResult sameRows(mlir::Operation *op, mlir::ValueRange originals);

  // The weight of a parameter's value, at the head unless it names a column.
  mlir::Value weight(mlir::Location location, mlir::Attribute value);
  mlir::FailureOr<mlir::RankedTensorType> typeOf(mlir::Location location,
                                                 mlir::Attribute value);
  int64_t channelsOf(mlir::Value original) {
    return llvm::cast<mlir::ShapedType>(original.getType()).getShape().back();
  }
  mlir::Value valueOf(mlir::Value original) { return values.lookup(original); }
  mlir::Value destinationOf(mlir::Value original) {
    return makeDestination(body, original.getLoc(), rowsOf(original),
                           channelsOf(original));
  }
  mlir::Value makeIndices(mlir::OpBuilder &builder, mlir::Location location,
                          mlir::Value rows);
  // Makes an op once for each `key` of attributes and values.
  mlir::Value once(llvm::ArrayRef<const void *> key,
                   llvm::function_ref<mlir::Value()> make);

  transformer::ModelOp model;
  mlir::SymbolTable symbols;
  mlir::func::FuncOp function;
  mlir::OpBuilder head; // for values that all layers read
  mlir::OpBuilder body;
  mlir::Value batch, zero;
  llvm::StringMap<mlir::Value> runSizes; // all but the batch
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<mlir::Value, Space> spaces;
  // Outside of layers values; inside the originals, whose rows saved values
  // have.
  llvm::StringMap<mlir::Value> savedValues;
  // What each sum holds so far; in a loop that adds to it, a stream of that.
  llvm::StringMap<mlir::Value> collected;
  llvm::StringMap<unsigned> schedules; // of each slot
  // The values of scheduled scales: a step's gradients read those that its
  // units made.
  llvm::DenseMap<mlir::Attribute, mlir::Value> scheduled;
  // By size, number and slots of each row.
  std::map<std::tuple<std::string, int64_t, int64_t>, mlir::Value> rowCounts;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Block *>, mlir::Value>
      weights;
  std::vector<std::pair<llvm::SmallVector<const void *>, mlir::Value>> made;
  llvm::SmallPtrSet<mlir::Operation *, 8> prologues; // fused rotations
  llvm::DenseMap<mlir::Operation *, Routing> routings;
  llvm::SmallVector<mlir::Attribute> bodies; // of all stacks, for reports
  int64_t stacks = 0;

  // Inside a body of `layers`: what its columns are, and where weights go.
  llvm::DenseMap<mlir::StringAttr, mlir::Attribute> columns;
  mlir::Block *layer = nullptr;
  mlir::Operation *lastWeight = nullptr;
};

} // namespace mille
