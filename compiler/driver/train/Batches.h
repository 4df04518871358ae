// Batches in the order that (seed, step) name, as the inputs of a trainer.
// Must not know what a step does with them.
#pragma once
#include "compiler/driver/train/TokenData.h"
#include "loader/Library.h"

namespace mille {

class Batches {
public:
  // Finds the inputs of the entry in `inputs`; fails, with an error, at one
  // that is required and that a file of tokens cannot give.
  static Status open(const TokenData &data,
                     const std::vector<mille_tensor> &inputs, int64_t batch,
                     mlir::MLIRContext &context,
                     std::unique_ptr<Batches> &batches);

  // Number `place` of the data, `count` sequences of it in a row; with an order
  // those that the permutation of each epoch has there. False: a number that
  // 32 bits do not hold.
  bool take(int64_t place, int64_t count, const LibraryFunctions *order,
            uint64_t seed);

  const void *const *inputs() const { return pointers.data(); }

private:
  const TokenData &data;
  explicit Batches(const TokenData &data) : data(data) {}
  std::vector<int32_t> ids, labels, visible;
  std::vector<const void *> pointers;
};

} // namespace mille
