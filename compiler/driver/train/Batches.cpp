// Must check every shape before it is used: the file may be any file.
#include "compiler/driver/train/Batches.h"
#include "dialects/transformer/Shape.h"
#include "dialects/transformer/Training.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include <cstring>

using namespace mille;
using llvm::StringRef;

namespace {

constexpr int32_t noLabel = -100;

bool isWhole(Encoding type) {
  return type == Encoding::i64 || type == Encoding::i32 ||
         type == Encoding::i16 || type == Encoding::u8 || type == Encoding::i8;
}

float bitsOf(int32_t number) {
  float bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

constexpr llvm::StringLiteral idsName = "input_ids";

const mille_tensor *named(const std::vector<mille_tensor> &inputs,
                          StringRef name) {
  auto found = llvm::find_if(
      inputs, [&](const mille_tensor &input) { return name == input.name; });
  return found == inputs.end() ? nullptr : &*found;
}

bool sameSizes(const mille_tensor &left, const mille_tensor &right) {
  auto isSame = [&](int d) {
    const char *one = left.sizes[d], *other = right.sizes[d];
    return one && other ? StringRef(one) == other
                        : !one && !other && left.shape[d] == right.shape[d];
  };
  return left.rank == right.rank && llvm::all_of(llvm::seq(left.rank), isSame);
}

} // namespace

mlir::InFlightDiagnostic Batches::error() const {
  return mlir::emitError(
      mlir::FileLineColLoc::get(&context, data.name(), 0, 0));
}

Status Batches::open(const TokenData &data,
                     const std::vector<mille_tensor> &inputs, int64_t batch,
                     const Masks *masks, mlir::MLIRContext &context,
                     std::unique_ptr<Batches> &batches) {
  batches.reset(new Batches(data, masks, context));
  if (data.isFlat())
    batches->extents.push_back({"tokens", data.tokens()});
  for (const StoredTensor &tensor : data.tensors())
    if (!named(inputs, tensor.name)) {
      batches->error() << "has " << tensor.name
                       << " but the model has no such input";
      return Status::input;
    }
  batches->columns.reserve(inputs.size()); // columns do not move
  for (const mille_tensor &input : inputs)
    if (!batches->add(input, inputs, batch))
      return Status::input;
  return Status::done;
}

// Whether a tensor has the shape of an input; the sizes that it shows are those
// of a run. One number for each sequence may have no dimension of its own.
bool Batches::fit(const StoredTensor &tensor, const mille_tensor &input) {
  std::vector<int64_t> shape(tensor.shape.begin(), tensor.shape.end());
  if (shape.size() == 1 && input.rank == 2 && !input.sizes[1] &&
      input.shape[1] == 1)
    shape.push_back(1);
  bool fits = int(shape.size()) == input.rank && input.rank > 0 &&
              shape[0] == data.sequences() &&
              (input.type != MILLE_TYPE_I32 || isWhole(tensor.type));
  std::string wanted = std::to_string(data.sequences());
  for (int d = 1; d < input.rank; ++d) {
    int64_t extent = input.shape[d];
    if (const char *size = input.sizes[d]) {
      auto known = llvm::find_if(extents, [&](const mille_size &other) {
        return StringRef(other.name) == size;
      });
      if (known == extents.end() && fits)
        known = extents.insert(known, {size, shape[d]});
      extent = known == extents.end() ? 0 : known->value;
      wanted += ", " + (extent ? std::to_string(extent) : std::string(size));
    } else {
      wanted += ", " + std::to_string(extent);
    }
    fits = fits && shape[d] == extent;
  }
  if (!fits)
    error() << tensor.name << " is " << shapeText(tensor.shape)
            << " but the model takes [" << wanted << "]"
            << (input.type == MILLE_TYPE_I32 ? ", whole numbers" : "");
  return fits;
}

bool Batches::add(const mille_tensor &input,
                  const std::vector<mille_tensor> &inputs, int64_t batch) {
  Column column;
  column.isWhole = input.type == MILLE_TYPE_I32;
  column.tensor = data.find(input.name);
  if (masks && input.name == labelsName && !addMasked(input, inputs, column))
    return false;
  bool found = column.tensor || column.from == From::masked;
  if (column.tensor && !fit(*column.tensor, input))
    return false;
  if (!found)
    found = data.isFlat()
                ? addFlat(input, column)
                : input.name == labelsName && addNext(input, inputs, column);
  if (!found) {
    pointers.push_back(nullptr);
    if (input.optional || input.name == lossWeightName)
      return true;
    error() << "has no " << input.name << ", which the model takes"
            << (data.isFlat() ? ": safetensors have any input" : "");
    return false;
  }
  column.each = data.tokens(); // of input_ids too
  if (column.from == From::tensor || column.from == From::next)
    column.each = column.tensor->elements() / data.sequences();
  column.numbers.resize(batch * column.each);
  columns.push_back(std::move(column));
  pointers.push_back(columns.back().numbers.data());
  return true;
}

bool Batches::addFlat(const mille_tensor &input, Column &column) const {
  const StringRef name = input.name;
  column.from = name == idsName ? From::flat : From::flatNext;
  return column.isWhole && input.rank == 2 &&
         (name == idsName || name == labelsName);
}

// Labels are the next tokens of the stream that has their sizes.
bool Batches::addNext(const mille_tensor &labels,
                      const std::vector<mille_tensor> &inputs,
                      Column &column) const {
  for (StringRef stream : {"", "decoder_"}) {
    const std::string ids = (stream + idsName).str();
    const mille_tensor *input = named(inputs, ids);
    if (!input || labels.rank != 2 || !sameSizes(*input, labels) ||
        !data.find(ids))
      continue;
    column.from = From::next;
    column.tensor = data.find(ids);
    column.mask = data.find((stream + maskName).str());
    return true;
  }
  return false;
}

// Labels are the tokens that are hidden among input_ids.
bool Batches::addMasked(const mille_tensor &labels,
                        const std::vector<mille_tensor> &inputs,
                        Column &column) {
  const mille_tensor *ids = named(inputs, idsName);
  if (column.tensor) {
    error() << "has labels but --mask makes them of input_ids: leave one out";
    return false;
  }
  if (!ids || !sameSizes(*ids, labels) || ids->rank != 2) {
    error() << "is to be masked but the model's labels are not those of "
               "input_ids";
    return false;
  }
  column.from = From::masked;
  return true;
}

bool Batches::read(Column &column, int64_t sequence, int64_t row) const {
  llvm::MutableArrayRef<float> into(column.numbers.data() + row * column.each,
                                    column.each);
  if (column.from == From::masked)
    return true;
  if (column.from == From::flat || column.from == From::flatNext) {
    for (int64_t t = 0; t < column.each; ++t)
      into[t] =
          bitsOf(data.token(sequence, t + (column.from == From::flatNext)));
    return true;
  }
  const int64_t first = sequence * column.each;
  if (!column.isWhole) {
    column.tensor->read(first, into);
    return true;
  }
  std::vector<double> numbers(column.each), visible(column.each, 1);
  column.tensor->read(first, numbers);
  if (column.mask)
    column.mask->read(first, visible);
  const bool next = column.from == From::next;
  for (int64_t t = 0; t < column.each; ++t) {
    const bool has = !next || (t + 1 < column.each && visible[t] != 0 &&
                               visible[t + 1] != 0);
    const double number = !has ? noLabel : numbers[t + next];
    if (!(number >= INT32_MIN && number <= INT32_MAX))
      return false;
    into[t] = bitsOf(int32_t(number));
  }
  return true;
}

// Padding is not hidden.
void Batches::mask(int64_t sequence, int64_t row, MaskKey key) {
  Column *ids = nullptr, *labels = nullptr;
  for (Column &column : columns)
    if (column.from == From::masked)
      labels = &column;
    else if (column.from == From::flat ||
             (column.tensor && column.tensor->name == idsName))
      ids = &column;
  const int64_t count = ids->each;
  std::vector<int32_t> tokens(count), guessed(count);
  std::memcpy(tokens.data(), ids->numbers.data() + row * count,
              count * sizeof(int32_t));
  std::vector<double> visible(count, 1);
  if (const StoredTensor *shown = data.find(maskName))
    shown->read(sequence * count, visible);
  std::vector<uint8_t> never(count);
  for (int64_t t = 0; t < count; ++t)
    never[t] = visible[t] == 0 || llvm::binary_search(masks->never, tokens[t]);
  size_t chosen = 0;
  masks->api->mille_mask_tokens(&masks->how, key.seed, key.epoch,
                                uint64_t(sequence), never.data(), size_t(count),
                                tokens.data(), guessed.data(), &chosen);
  std::memcpy(ids->numbers.data() + row * count, tokens.data(),
              count * sizeof(int32_t));
  std::memcpy(labels->numbers.data() + row * count, guessed.data(),
              count * sizeof(int32_t));
}

bool Batches::take(int64_t place, int64_t count, const LibraryFunctions *order,
                   uint64_t seed) {
  const int64_t all = data.sequences();
  for (int64_t i = 0; i < count; ++i) {
    int64_t index = place + i;
    const MaskKey key =
        order ? MaskKey{seed, uint64_t(index / all)} : evaluationKey;
    if (order)
      index = int64_t(order->mille_data_order(
          seed, uint64_t(index / all), uint64_t(index % all), uint64_t(all)));
    for (Column &column : columns)
      if (!read(column, index, i))
        return false;
    if (masks)
      mask(index, i, key);
  }
  return true;
}

std::vector<mille_size> Batches::sizes(int64_t count) const {
  std::vector<mille_size> all = {{"batch", count}};
  all.insert(all.end(), extents.begin(), extents.end());
  return all;
}
