// One run of an entry: the live tensors, the current layer, the kept outputs.
// Must not be included outside of compiler/interpret.
#pragma once
#include "compiler/interpret/AttendHead.h"
#include "compiler/interpret/Numbers.h"
#include "dialects/kernel/Kernel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <optional>

namespace mille::interpreter {

// The layer of a `layers` op that runs: its number and its row of the table.
struct Layer {
  int64_t index = 0;
  llvm::StringMap<mlir::Attribute> columns; // slot -> symbol or number
};

// The sequences and heads that linear attention with a state goes through.
struct Recurrence {
  Head head;
  int64_t heads;
  const Tensor &past; // [batch]
  std::vector<double> decay;
  // Points the head at head h of sequence b, and how many tokens count there.
  llvm::function_ref<void(int64_t, int64_t)> enter;
  llvm::function_ref<int64_t(int64_t)> tokensOf;
};

struct Run {
  explicit Run(ParameterValues &parameters) : parameters(parameters) {}

  const Tensor &at(mlir::Value value) { return tensors[value]; }
  // The tensor of an optional operand; null where it is absent.
  const Tensor *find(mlir::Value value) {
    return value ? &tensors[value] : nullptr;
  }
  int64_t index(mlir::Value value) { return int64_t(at(value).numbers.at(0)); }
  // Numbers of a bf16 value are rounded to it.
  void set(mlir::Value value, Tensor tensor);

  // What a column of the layer table holds in the current layer, or null.
  mlir::Attribute inLayer(mlir::FlatSymbolRefAttr name) const;
  // The value of a parameter expression; columns of the current layer come
  // before symbols.
  Status parameter(mlir::Attribute value, mlir::Location location,
                   Tensor &into);
  // The same, some rows at a time, from the first on.
  Status
  parameterRows(mlir::Attribute value, mlir::Location location,
                llvm::function_ref<void(int64_t, llvm::ArrayRef<double>)> take);
  // The number that column `name` holds in the current layer.
  std::optional<double> column(mlir::FlatSymbolRefAttr name);
  // Writes entry `index` of output `name`, counted from the current layer.
  void keep(llvm::StringRef name, int64_t index, const Tensor &tensor);

  // The gradient of a parameter, in the current layer of the one that the
  // column names; zeros of its shape at first. Null, with an error, where
  // there is no such parameter.
  Tensor *gradient(mlir::Operation *op, mlir::FlatSymbolRefAttr name);

  // Writes rows behind the past of each sequence (null: from the first row on)
  // into entry `index` of a state, counted from the current layer; gives the
  // whole entry.
  Tensor remember(mlir::Value state, int64_t index, const Tensor &input,
                  const Tensor *past);
  // Linear attention whose sums are in an entry of a state.
  void recur(mlir::Value state, int64_t index, Recurrence &all);
  // An entry of a state, counted from the current layer: a copy.
  Tensor recall(mlir::Value state, int64_t index);

  // The gradient of a parameter, or of what a column is in the current layer:
  // zeros of that shape at first.
  Tensor &gradientOf(mlir::FlatSymbolRefAttr name,
                     llvm::ArrayRef<int64_t> shape);
  // What the current layer saved under a name; `save` makes it.
  Tensor &savedAs(llvm::StringRef name) {
    return saved[name.str()][layer ? layer->index : 0];
  }

  ParameterValues &parameters;
  llvm::DenseMap<mlir::Value, Tensor> tensors;
  // What states hold, by their arguments: [entries, batch, rows, columns].
  llvm::DenseMap<mlir::Value, Tensor> states;
  std::map<std::string, std::map<int64_t, Tensor>> kept;
  Values outputs;                          // those that an op names itself
  std::map<std::string, Tensor> gradients; // of parameters
  // What `save` keeps for the backward pass, by its layer.
  std::map<std::string, std::map<int64_t, Tensor>> saved;
  llvm::StringMap<int64_t> sizes; // of the run, by name
  std::optional<double> step; // of scheduled scales; none: the schedule's end
  const Layer *layer = nullptr;
  KernelRunner instead;                    // of the interpreter's own step
  Routing *routing = nullptr;              // of experts; null: nobody asks
  std::map<std::string, Tensor> collected; // sums over layers
};

// Runs the ops of `block` except its terminator; drops values after their last
// use.
Status runBlock(Run &run, mlir::Block &block);

// Runs the layers of `stack`: `stream` goes through their bodies in turn.
Status runLayers(Run &run, transformer::LayerStack stack,
                 llvm::SmallVectorImpl<Tensor> &stream);

// from + (to - from) * min(step, steps) / steps.
double scheduled(double step, double from, double to, int64_t steps);

// The numbers of a scale: one, or one per channel. `absent` where it is null.
Status scaleNumbers(Run &run, transformer::ScaleAttr scale, double absent,
                    mlir::Location location, std::vector<double> &numbers);

// Fails, with an error, where an operand is present and has not `count`
// numbers.
Status expectCount(mlir::Operation *op, llvm::StringRef name,
                   const Tensor *tensor, int64_t count);

// The sides of the images of a kernel program; fails where one is less than a
// patch.
Status readSides(Run &run, mlir::Operation *op, mlir::Value height,
                 mlir::Value width, llvm::ArrayRef<int64_t> patch,
                 std::array<int64_t, 2> &sides);
// Stores the result of an op on images; fails where its outs has other rows.
Status setRows(Run &run, mlir::Operation *op, mlir::Value out, Tensor rows);

// The token of a sequence that a pool takes, if it is no mean; `ids` are the
// sequence's mask (last) or ids, or null.
int64_t pooledToken(transformer::Pool kind, const double *ids, int64_t tokens,
                    int64_t skip, int64_t id);

// bf16(bf16(slope) * position), as Falcon rounds.
double alibiOf(double slope, double position);

// norm, then weight and bias, over the rows of `tensor`.
Status applyNorm(Run &run, transformer::NormAttr norm, mlir::Location location,
                 Tensor &tensor);

// Stores the sum that an op of the trait Adds has made for its outs, which a
// kernel.gradient gives.
void setGradient(Run &run, mlir::Value out, const Tensor &sum);

// One function per op; the result is stored with run.set.
Status runOp(Run &run, transformer::EmbedOp op);
Status runOp(Run &run, transformer::NormOp op);
Status runOp(Run &run, transformer::LinearOp op);
Status runOp(Run &run, transformer::LinearByHeadOp op);
Status runOp(Run &run, transformer::AddOp op);
Status runOp(Run &run, transformer::AffineOp op);
Status runOp(Run &run, transformer::ClampOp op);
Status runOp(Run &run, transformer::ActivateOp op);
Status runOp(Run &run, transformer::GateOp op);
Status runOp(Run &run, transformer::SoftcapOp op);
Status runOp(Run &run, transformer::RotateOp op);
Status runOp(Run &run, transformer::PositionBiasOp op);
Status runOp(Run &run, transformer::DistanceBiasOp op);
Status runOp(Run &run, transformer::PairBiasOp op);
Status runOp(Run &run, transformer::ContentBiasOp op);
Status runOp(Run &run, transformer::KeyHeadBiasOp op);
Status runOp(Run &run, transformer::AttendOp op);
Status runOp(Run &run, transformer::LinearAttendOp op);
Status runOp(Run &run, transformer::RouteOp op);
Status runOp(Run &run, transformer::DispatchOp op);
Status runOp(Run &run, transformer::CombineOp op);
Status runOp(Run &run, transformer::PatchesOp op);
Status runOp(Run &run, transformer::PatchTableOp op);
Status runOp(Run &run, transformer::PatchRotationOp op);
Status runOp(Run &run, transformer::MovePatchesOp op);
Status runOp(Run &run, transformer::WindowSegmentsOp op);
Status runOp(Run &run, transformer::GatherTokensOp op);
Status runOp(Run &run, transformer::TokenNumbersOp op);
Status runOp(Run &run, transformer::CountTokensOp op);
Status runOp(Run &run, transformer::ConstantOp op);
Status runOp(Run &run, transformer::SimilarityOp op);
Status runOp(Run &run, transformer::PoolOp op);
Status runOp(Run &run, transformer::RememberOp op);
Status runOp(Run &run, transformer::RecallOp op);
Status runOp(Run &run, transformer::PositionsOp op);
Status runOp(Run &run, transformer::ResidualOp op);
Status runOp(Run &run, transformer::KeepOp op);
Status runOp(Run &run, transformer::LayersOp op);
Status runOp(Run &run, transformer::CrossEntropyOp op);
Status runOp(Run &run, transformer::SquaredErrorOp op);
Status runOp(Run &run, transformer::BinaryCrossEntropyOp op);
Status runOp(Run &run, transformer::WeightGradientOp op);
Status runOp(Run &run, transformer::NormGradientOp op);
Status runOp(Run &run, transformer::ActivateGradientOp op);
Status runOp(Run &run, transformer::ScaleGradientOp op);
Status runOp(Run &run, transformer::EmbedGradientOp op);
Status runOp(Run &run, transformer::AttendGradientOp op);
Status runOp(Run &run, transformer::PoolGradientOp op);
Status runOp(Run &run, transformer::ReverseTokensOp op);
Status runOp(Run &run, transformer::BiasGradientOp op);
Status runOp(Run &run, transformer::KeyHeadGradientOp op);
Status runOp(Run &run, transformer::ConstantGradientOp op);
Status runOp(Run &run, transformer::RouteGradientOp op);
Status runOp(Run &run, transformer::SlotProductsOp op);
Status runOp(Run &run, transformer::RouteSharesOp op);
Status runOp(Run &run, transformer::SharesGradientOp op);
Status runOp(Run &run, transformer::BalanceLossOp op);
Status runOp(Run &run, transformer::CollectOp op);
Status runOp(Run &run, transformer::CollectedOp op);
Status runOp(Run &run, transformer::DropoutOp op);
Status runOp(Run &run, transformer::SaveOp op);
Status runOp(Run &run, transformer::SavedOp op);
Status runOp(Run &run, kernel::WeightOp op);
Status runOp(Run &run, kernel::GradientOp op);
Status runOp(Run &run, kernel::SaveOp op);
Status runOp(Run &run, kernel::SavedOp op);
Status runOp(Run &run, kernel::MatmulOp op);
Status runOp(Run &run, kernel::AttentionOp op);
Status runOp(Run &run, kernel::LinearAttentionOp op);
Status runOp(Run &run, kernel::RotateOp op);
Status runOp(Run &run, kernel::RowsOp op);
Status runOp(Run &run, kernel::QuantizeOp op);
Status runOp(Run &run, kernel::LaunchOp op);
Status runOp(Run &run, kernel::LayersOp op);
Status runOp(Run &run, kernel::RowBlocksOp op);
Status runOp(Run &run, kernel::RouteOp op);
Status runOp(Run &run, kernel::DispatchOp op);
Status runOp(Run &run, kernel::CombineOp op);
Status runOp(Run &run, kernel::RouteGradientOp op);
Status runOp(Run &run, kernel::SlotProductsOp op);
Status runOp(Run &run, kernel::RouteSharesOp op);
Status runOp(Run &run, kernel::SharesGradientOp op);
Status runOp(Run &run, kernel::BalanceLossOp op);
Status runOp(Run &run, kernel::ExpertsOp op);
Status runOp(Run &run, kernel::RotationOp op);
Status runOp(Run &run, kernel::AlibiOp op);
Status runOp(Run &run, kernel::QueryScaleOp op);
Status runOp(Run &run, kernel::TokenNumbersOp op);
Status runOp(Run &run, kernel::CountTokensOp op);
Status runOp(Run &run, kernel::DropoutOp op);
Status runOp(Run &run, kernel::ShiftOp op);
Status runOp(Run &run, kernel::SpreadOp op);
Status runOp(Run &run, kernel::GatherTokensOp op);
Status runOp(Run &run, kernel::PatchesOp op);
Status runOp(Run &run, kernel::PatchTableOp op);
Status runOp(Run &run, kernel::PatchRotationOp op);
Status runOp(Run &run, kernel::MovePatchesOp op);
Status runOp(Run &run, kernel::WindowSegmentsOp op);
Status runOp(Run &run, kernel::SimilarityOp op);
Status runOp(Run &run, kernel::ScheduleOp op);
Status runOp(Run &run, kernel::PoolIndexOp op);
Status runOp(Run &run, kernel::PoolMeanOp op);
Status runOp(Run &run, kernel::PoolGradientOp op);
Status runOp(Run &run, kernel::ReverseTokensOp op);
Status runOp(Run &run, kernel::RecallOp op);
Status runOp(Run &run, kernel::RememberOp op);
Status runOp(Run &run, kernel::PositionsOp op);
Status runOp(Run &run, kernel::LinearRecurrenceOp op);
Status runOp(Run &run, kernel::KeepOp op);
Status runOp(Run &run, kernel::WeightGradientOp op);
Status runOp(Run &run, kernel::ColumnSumsOp op);
Status runOp(Run &run, kernel::EmbedGradientOp op);
Status runOp(Run &run, kernel::PairSumsOp op);
Status runOp(Run &run, kernel::NormBackwardOp op);
Status runOp(Run &run, kernel::CrossEntropyOp op);
Status runOp(Run &run, kernel::PackOp op);
Status runOp(Run &run, kernel::AttentionBackwardOp op);
// Index arithmetic and destinations of kernel programs (arith, tensor).
Status runSizes(Run &run, mlir::Operation *op);

} // namespace mille::interpreter
