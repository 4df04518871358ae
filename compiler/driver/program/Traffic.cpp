// Counts the launches and the bytes of a run of a planned program, and of the
// same model without its scales. Must not measure time.
#include "compiler/driver/program/Traffic.h"

#include "compiler/driver/program/Kernels.h"
#include "compiler/fuse/Passes.h"
#include "compiler/rewrite/Units.h"
#include "dialects/kernel/Signature.h"

using namespace mille;

bool Traffic::operator==(const Traffic &other) const {
  return kernels == other.kernels && launches == other.launches &&
         bytesPerRow == other.bytesPerRow && weightBytes == other.weightBytes;
}

// How often a run executes an op. It executes a body once per layer of that
// body.
static int64_t turnsOf(mlir::Operation *op) {
  int64_t turns = 1;
  for (mlir::Region *region = op->getParentRegion(); region;
       region = region->getParentRegion())
    if (auto layers = llvm::dyn_cast<kernel::LayersOp>(region->getParentOp()))
      turns *= llvm::count(layers.getBodies(), region->getRegionNumber());
  return turns;
}

// Adds the bytes of an operand. An operand of fixed shape is a weight; others
// have a row per row of the run.
static void addBytes(mlir::Value operand, int64_t turns, Traffic &traffic) {
  auto type = llvm::dyn_cast<mlir::MemRefType>(operand.getType());
  if (!type)
    return;
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  for (int64_t extent : type.getShape())
    if (!mlir::ShapedType::isDynamic(extent))
      bytes *= extent;
  (type.hasStaticShape() ? traffic.weightBytes : traffic.bytesPerRow) +=
      bytes * turns;
}

int64_t mille::rowBytesOf(mlir::Operation *kernelOp) {
  Traffic traffic;
  for (mlir::Value operand : kernelOp->getOperands())
    addBytes(operand, 1, traffic);
  return traffic.bytesPerRow;
}

Traffic mille::trafficOf(mlir::Operation *model) {
  Traffic traffic;
  std::vector<DistinctKernel> kernels;
  if (!failed(distinctKernels(model, kernels)))
    traffic.kernels = kernels.size();
  mlir::func::FuncOp entry = kernel::entryOf(model, "");
  entry.walk([&](mlir::Operation *op) {
    if (!kernel::isGenerated(op))
      return;
    int64_t turns = turnsOf(op);
    for (mlir::Value operand : op->getOperands())
      addBytes(operand, turns, traffic);
    if (!op->getParentOfType<kernel::LaunchOp>())
      traffic.launches += turns;
  });
  entry.walk([&](kernel::LaunchOp op) { traffic.launches += turnsOf(op); });
  return traffic;
}

// Removes the constant scales. Returns whether there were any.
static bool dropScales(mlir::ModuleOp module) {
  bool any = false;
  module.walk([&](transformer::ResidualOp unit) {
    if (rewrite::isConstantBesides1(unit.getSkipScaleAttr())) {
      unit.removeSkipScaleAttr();
      any = true;
    }
    mlir::ArrayAttr scales = unit.getBranchScaleAttr();
    if (!scales)
      return;
    llvm::SmallVector<mlir::Attribute> left(scales.getValue());
    for (mlir::Attribute &scale : left)
      if (rewrite::isConstantBesides1(
              llvm::cast<transformer::ScaleAttr>(scale))) {
        scale = rewrite::constantScale(scale.getContext(), 1);
        any = true;
      }
    unit.setBranchScaleAttr(mlir::ArrayAttr::get(unit.getContext(), left));
  });
  return any;
}

std::optional<Traffic> mille::trafficUnscaled(mlir::ModuleOp imported,
                                              const rewrite::Wishes &wishes,
                                              const PlanChoices &choices) {
  mlir::OwningOpRef<mlir::ModuleOp> module = imported.clone();
  if (!dropScales(*module))
    return std::nullopt;
  // The passes emit the same diagnostics for the model itself.
  mlir::ScopedDiagnosticHandler quiet(
      imported.getContext(),
      [](mlir::Diagnostic &) { return mlir::success(); });
  mlir::PassManager passes(imported.getContext());
  passes.enableVerifier(false);
  rewrite::addRewritePipeline(passes, wishes);
  addRollPipeline(passes);
  addFusePipeline(passes);
  addPlanPipeline(passes, choices);
  if (mlir::failed(passes.run(*module)))
    return std::nullopt;
  return trafficOf(*module->getOps<transformer::ModelOp>().begin());
}
