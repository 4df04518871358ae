// Sums what runtime/train lays out: parameters in whole cache lines, a
// gradient for each, or for those of a layer at a time.
#include "compiler/driver/program/TrainerMemory.h"

#include "dialects/kernel/Signature.h"
#include "dialects/kernel/Updates.h"
#include "dialects/transformer/Transformer.h"
#include "llvm/Support/MathExtras.h"

using namespace mille;

namespace {

constexpr int64_t line = 64;

// The bytes of each parameter with a gradient.
llvm::DenseMap<mlir::Attribute, int64_t>
parameterBytes(mlir::Operation *model) {
  llvm::DenseMap<mlir::Attribute, int64_t> bytes;
  model->walk([&](transformer::ParameterOp op) {
    auto type = llvm::cast<mlir::ShapedType>(op.getType());
    bytes[mlir::FlatSymbolRefAttr::get(op.getSymNameAttr())] =
        llvm::alignTo(type.getNumElements() * int64_t(sizeof(float)), line);
  });
  return bytes;
}

// Gradients of a layer share the bytes of another's where loops update as they
// go.
int64_t
gradientBytes(mlir::Operation *model,
              const llvm::DenseMap<mlir::Attribute, int64_t> &parameters,
              int64_t all) {
  int64_t most = 0, shared = 0;
  model->walk([&](kernel::LayersOp layers) {
    for (size_t layer = 0; layer < layers.getBodies().size(); ++layer) {
      int64_t own = 0;
      for (mlir::Attribute column : kernel::updatedColumns(layers))
        own += parameters.lookup(
            layers.entryOf(layer, llvm::cast<mlir::FlatSymbolRefAttr>(column)));
      most = std::max(most, own);
      shared += own;
    }
  });
  return all - shared + most;
}

int64_t statesOf(const Training &training) {
  switch (training.optimizer) {
  case Optimizer::sgd:
    return training.momentum != 0;
  case Optimizer::lion:
    return 1;
  case Optimizer::adam:
  case Optimizer::adamw:
  case Optimizer::lamb:
    return 2;
  }
  return 2;
}

int64_t arenaBytes(mlir::func::FuncOp entry, int64_t batch, int64_t tokens) {
  const kernel::ArenaSizes arena = kernel::arenaSizesOf(entry);
  int64_t longest = std::max<int64_t>(arena.fixedTokens, 1);
  for (const kernel::SizeInfo &size : kernel::signatureOf(entry).sizes)
    if (size.name != sizes::batch)
      longest = std::max(longest, tokens ? tokens : size.most);
  const int64_t rows = (batch * longest + 23) / 16 * 16; // as the runtime pads
  return arena.fixedBytes + rows * arena.bytesPerRow;
}

} // namespace

int64_t mille::trainerBytes(mlir::Operation *model, const Training &training,
                            int64_t batch, int64_t tokens) {
  const llvm::DenseMap<mlir::Attribute, int64_t> parameters =
      parameterBytes(model);
  int64_t all = 0, arena = 0;
  for (auto [name, bytes] : parameters) // a sum: any order
    all += bytes;
  const bool together = training.accumulate > 1 || training.clip > 0;
  const int64_t part = (batch + training.accumulate - 1) / training.accumulate;
  model->walk([&](mlir::func::FuncOp entry) {
    arena = std::max(arena, arenaBytes(entry, part, tokens));
  });
  return all * (1 + statesOf(training)) + arena +
         (together ? all : gradientBytes(model, parameters, all));
}

std::vector<std::string> mille::recomputeWords(int64_t layers) {
  std::vector<std::string> words = {"none", "cheap", "layer"};
  // Segments of K layers hold layers / K inputs, and K layers of some values
  // each: below a quarter of the root of `layers` less never helps.
  for (int64_t length = 64; length > 1; length /= 2)
    if (length < layers && 16 * length * length >= layers)
      words.push_back("segment:" + std::to_string(length));
  return words;
}
