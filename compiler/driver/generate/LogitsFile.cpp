// Keeps all rows until the answer has ended.
#include "compiler/driver/generate/LogitsFile.h"

#include "compiler/weights/Safetensors.h"

using namespace mille;

void LogitsFile::add(int32_t id, llvm::ArrayRef<float> logits) {
  ids.push_back(id);
  all.insert(all.end(), logits.begin(), logits.end());
}

template <typename Number>
static StoredTensor tensorOf(const char *name, Encoding type,
                             std::vector<int64_t> shape,
                             const std::vector<Number> &numbers) {
  return {name,
          type,
          std::move(shape),
          {reinterpret_cast<const char *>(numbers.data()),
           numbers.size() * sizeof(Number)}};
}

Status LogitsFile::write(mlir::MLIRContext &context) const {
  if (!isWanted())
    return Status::done;
  const auto tokens = int64_t(ids.size());
  const int64_t vocabulary = tokens ? int64_t(all.size()) / tokens : 0;
  return writeSafetensors(
      path,
      {tensorOf("ids", Encoding::i32, {tokens}, ids),
       tensorOf("logits", Encoding::f32, {tokens, vocabulary}, all)},
      context);
}
