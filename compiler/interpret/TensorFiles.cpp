// Reads inputs and writes outputs of a run as safetensors.
// Must not compute: numbers are only rounded to the file's type.
#include "compiler/interpret/TensorFiles.h"
#include "compiler/interpret/Compare.h"
#include "compiler/weights/Safetensors.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace mille;

namespace {

bool isInteger(Encoding type) {
  switch (type) {
  case Encoding::i64:
  case Encoding::i32:
  case Encoding::i16:
  case Encoding::i8:
  case Encoding::u8:
  case Encoding::boolean:
    return true;
  default:
    return false;
  }
}

template <typename To>
void append(const std::vector<double> &numbers, std::vector<char> &bytes) {
  bytes.resize(numbers.size() * sizeof(To));
  for (size_t i = 0; i < numbers.size(); ++i) {
    To number = To(numbers[i]);
    std::memcpy(bytes.data() + i * sizeof(To), &number, sizeof(To));
  }
}

} // namespace

Status mille::readTensors(llvm::StringRef path, mlir::MLIRContext &context,
                          Values &values, llvm::ArrayRef<std::string> only,
                          std::set<std::string> *wide) {
  std::unique_ptr<Safetensors> file = Safetensors::open(path, context);
  if (!file)
    return Status::input;
  for (const StoredTensor &stored : file->tensors()) {
    if (!only.empty() && !llvm::is_contained(only, stored.name))
      continue;
    Value value;
    value.shape = stored.shape;
    value.integer = isInteger(stored.type);
    value.numbers.resize(stored.elements());
    stored.read(0, value.numbers);
    values[stored.name] = std::move(value);
    if (wide && stored.type == Encoding::f64)
      wide->insert(stored.name);
  }
  return Status::done;
}

Status mille::writeTensors(llvm::StringRef path, const Values &values,
                           bool wide, mlir::MLIRContext &context) {
  Values split = values;
  splitEntries(split);
  std::vector<std::vector<char>> bytes(split.size());
  std::vector<StoredTensor> tensors;
  for (auto &[name, value] : split) {
    std::vector<char> &data = bytes[tensors.size()];
    Encoding type = value.integer ? Encoding::i64
                    : wide        ? Encoding::f64
                                  : Encoding::f32;
    if (value.integer)
      append<int64_t>(value.numbers, data);
    else if (wide)
      append<double>(value.numbers, data);
    else
      append<float>(value.numbers, data);
    tensors.push_back({name, type, value.shape, data});
  }
  return writeSafetensors(path, tensors, context);
}
