// One run of `forward`: the tensors alive, the layer at hand, what was kept.
// Private to this room.
#pragma once
#include "compiler/interpret/Numbers.h"
#include "dialects/kernel/Kernel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace mille::interpreter {

// The layer of a `layers` op that runs: its number and its row of the table.
struct Layer {
  int64_t index = 0;
  llvm::StringMap<mlir::Attribute> columns; // slot -> symbol or number
};

struct Run {
  explicit Run(ParameterValues &parameters) : parameters(parameters) {}

  const Tensor &at(mlir::Value value) { return tensors[value]; }
  int64_t index(mlir::Value value) { return int64_t(at(value).numbers.at(0)); }
  void set(mlir::Value value, Tensor tensor) {
    tensors[value] = std::move(tensor);
  }

  // The value of a parameter expression, columns of the layer at hand first.
  Status parameter(mlir::Attribute value, mlir::Location location,
                   Tensor &into);
  // The number that column `name` holds in the layer at hand.
  std::optional<double> column(mlir::FlatSymbolRefAttr name);
  // Entry `index` of output `name`, counted from the layer at hand.
  void keep(llvm::StringRef name, int64_t index, const Tensor &tensor);

  ParameterValues &parameters;
  llvm::DenseMap<mlir::Value, Tensor> tensors;
  std::map<std::string, std::map<int64_t, Tensor>> kept;
  int64_t batch = 0, tokens = 0;
  std::optional<double> step; // of scheduled scales; none: the schedule's end
  const Layer *layer = nullptr;
};

// Runs the ops of `block` but its terminator, dropping what has no later use.
Status runBlock(Run &run, mlir::Block &block);

// Layer after layer: `stream` through the bodies that `bodies` names.
Status runLayers(Run &run, mlir::Operation *op, mlir::ArrayAttr slots,
                 llvm::ArrayRef<int64_t> bodies, mlir::ArrayAttr table,
                 llvm::SmallVectorImpl<Tensor> &stream);

// from + (to - from) * min(step, steps) / steps.
double scheduled(double step, double from, double to, int64_t steps);

// norm, then weight and bias, over the rows of `tensor`.
Status applyNorm(Run &run, transformer::NormAttr norm, mlir::Location location,
                 Tensor &tensor);

// One function per op; the result is stored with run.set.
Status runOp(Run &run, transformer::EmbedOp op);
Status runOp(Run &run, transformer::NormOp op);
Status runOp(Run &run, transformer::LinearOp op);
Status runOp(Run &run, transformer::RotateOp op);
Status runOp(Run &run, transformer::PositionBiasOp op);
Status runOp(Run &run, transformer::AttendOp op);
Status runOp(Run &run, transformer::ActivateOp op);
Status runOp(Run &run, transformer::GateOp op);
Status runOp(Run &run, transformer::SoftcapOp op);
Status runOp(Run &run, transformer::PoolOp op);
Status runOp(Run &run, transformer::ResidualOp op);
Status runOp(Run &run, transformer::KeepOp op);
Status runOp(Run &run, transformer::LayersOp op);
Status runOp(Run &run, kernel::WeightOp op);
Status runOp(Run &run, kernel::MatmulOp op);
Status runOp(Run &run, kernel::AttentionOp op);
Status runOp(Run &run, kernel::RowsOp op);
Status runOp(Run &run, kernel::LaunchOp op);
Status runOp(Run &run, kernel::LayersOp op);
Status runOp(Run &run, kernel::KeyBiasOp op);
Status runOp(Run &run, kernel::RotationOp op);
Status runOp(Run &run, kernel::ScheduleOp op);
Status runOp(Run &run, kernel::PoolIndexOp op);
Status runOp(Run &run, kernel::PoolMeanOp op);
Status runOp(Run &run, kernel::KeepOp op);
// Index arithmetic and destinations of kernel programs (arith, tensor).
Status runSizes(Run &run, mlir::Operation *op);

} // namespace mille::interpreter
