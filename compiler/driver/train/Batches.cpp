// Puts sequences side by side, as the entry `train_step` takes them.
#include "compiler/driver/train/Batches.h"
#include "dialects/transformer/Training.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

using namespace mille;
using llvm::StringRef;

Status Batches::open(const TokenData &data,
                     const std::vector<mille_tensor> &inputs, int64_t batch,
                     mlir::MLIRContext &context,
                     std::unique_ptr<Batches> &batches) {
  batches.reset(new Batches(data));
  const size_t numbers = batch * data.tokens();
  batches->ids.resize(numbers);
  batches->labels.resize(numbers);
  batches->visible.resize(numbers);
  bool masked = false;
  for (const mille_tensor &input : inputs) {
    const StringRef name = input.name;
    const void *from = name == "input_ids"  ? batches->ids.data()
                       : name == labelsName ? batches->labels.data()
                       : name == "attention_mask" && data.hasMask()
                           ? batches->visible.data()
                           : nullptr;
    masked |= name == "attention_mask";
    if (!from && !input.optional && name != lossWeightName) {
      mlir::emitError(mlir::UnknownLoc::get(&context))
          << "the model has the input " << name
          << " but data for training is input_ids, labels and attention_mask";
      return Status::input;
    }
    batches->pointers.push_back(from);
  }
  if (!data.hasMask() || masked)
    return Status::done;
  mlir::emitError(mlir::UnknownLoc::get(&context))
      << "the data has attention_mask but the model has no such input";
  return Status::input;
}

bool Batches::take(int64_t place, int64_t count, const LibraryFunctions *order,
                   uint64_t seed) {
  const int64_t all = data.sequences(), tokens = data.tokens();
  for (int64_t i = 0; i < count; ++i) {
    int64_t index = place + i;
    if (order)
      index = int64_t(order->mille_data_order(
          seed, uint64_t(index / all), uint64_t(index % all), uint64_t(all)));
    if (!data.read(index, &ids[i * tokens], &labels[i * tokens],
                   &visible[i * tokens]))
      return false;
  }
  return true;
}
