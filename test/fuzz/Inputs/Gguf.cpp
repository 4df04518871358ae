// Reads bytes as a GGUF file, which gives a diagnostic, or keys that can all be
// printed and tensors whose every number can be read.
#include "compiler/weights/Gguf.h"
#include "InFile.h"

#include <cstdlib>

static void readAll(const mille::Gguf &file) {
  for (const mille::GgufKey &key : file.keys()) {
    if (file.describe(key).empty() || file.key(key.name) != &key)
      std::abort();
    file.integer(key.name);
    file.number(key.name);
    file.flag(key.name);
    file.text(key.name);
    uint64_t own = 0;
    file.texts(key.name, [&](llvm::StringRef text) { own += text.size() + 1; });
    file.numbers(key.name, [&](double) { ++own; });
    if (key.type == mille::GgufType::array && own < key.count)
      std::abort();
  }
  for (const mille::StoredTensor &tensor : file.tensors()) {
    float numbers[100];
    for (int64_t at = 0; at < tensor.elements(); at += 100)
      tensor.read(at,
                  llvm::MutableArrayRef<float>(
                      numbers, std::min<int64_t>(100, tensor.elements() - at)));
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return inFile(data, size, [](const std::string &path, auto &context) {
    if (auto opened = mille::Gguf::open(path, context))
      readAll(*opened);
  });
}
