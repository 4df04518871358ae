// Puts sequences side by side, as the entry `train_step` takes them, in the
// order that (seed, step) name. Must not know what a step does with them.
#pragma once
#include "compiler/driver/train/Masks.h"

namespace mille {

class Batches {
public:
  // Finds each of the entry's inputs in the data: a flat file has input_ids,
  // labels and attention_mask. Labels that a file lacks are the next tokens.
  // With `masks`, which outlive the batches, they are the tokens that those
  // hide. Fails, with an error, at an input that is required and not there, and
  // at a tensor that is no input or has not its shape.
  static Status open(const TokenData &data,
                     const std::vector<mille_tensor> &inputs, int64_t batch,
                     const Masks *masks, mlir::MLIRContext &context,
                     std::unique_ptr<Batches> &batches);

  // Number `place` of the data, `count` sequences of it in a row; with an order
  // those that the permutation of each epoch has there. False: a number that
  // 32 bits do not hold.
  bool take(int64_t place, int64_t count, const LibraryFunctions *order,
            uint64_t seed);

  const void *const *inputs() const { return pointers.data(); }
  // The sizes of a run of `count` sequences, the batch first. Their names live
  // as long as the package.
  std::vector<mille_size> sizes(int64_t count) const;

private:
  // Where the numbers of an input come from.
  enum class From { tensor, flat, flatNext, next, masked };
  struct Column {
    From from = From::tensor;
    const StoredTensor *tensor = nullptr; // of `next`: the tokens
    const StoredTensor *mask = nullptr;   // of `next`
    int64_t each = 0;                     // numbers of a sequence
    bool isWhole = true;
    std::vector<float> numbers; // whole ones have the bits of an int32_t
  };

  Batches(const TokenData &data, const Masks *masks, mlir::MLIRContext &context)
      : data(data), masks(masks), context(context) {}
  mlir::InFlightDiagnostic error() const;
  bool fit(const StoredTensor &tensor, const mille_tensor &input);
  bool add(const mille_tensor &input, const std::vector<mille_tensor> &inputs,
           int64_t batch);
  bool addFlat(const mille_tensor &input, Column &column) const;
  bool addNext(const mille_tensor &labels,
               const std::vector<mille_tensor> &inputs, Column &column) const;
  bool addMasked(const mille_tensor &labels,
                 const std::vector<mille_tensor> &inputs, Column &column);
  bool read(Column &column, int64_t sequence, int64_t row) const;
  void mask(int64_t sequence, int64_t row, MaskKey key);

  const TokenData &data;
  const Masks *masks; // null: tokens are not hidden
  mlir::MLIRContext &context;
  std::vector<Column> columns; // of the inputs that are not null
  std::vector<const void *> pointers;
  std::vector<mille_size> extents; // but the batch
};

} // namespace mille
