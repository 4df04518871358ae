// Writes tensors as one safetensors file, widest elements first so that each is
// aligned. Must not leave a partial file.
#include "compiler/weights/Safetensors.h"
#include "compiler/weights/WholeFile.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mille;

Status mille::writeSafetensors(llvm::StringRef path,
                               llvm::ArrayRef<StoredTensor> tensors,
                               mlir::MLIRContext &context) {
  mlir::Location at = mlir::FileLineColLoc::get(&context, path, 0, 0);
  std::vector<const StoredTensor *> order;
  llvm::StringSet<> names;
  for (const StoredTensor &tensor : tensors) {
    order.push_back(&tensor);
    if (!names.insert(tensor.name).second) {
      mlir::emitError(at) << "tensor '" << tensor.name
                          << "' would be written twice";
      return Status::bug;
    }
  }
  std::sort(order.begin(), order.end(), [](auto *a, auto *b) {
    return std::make_pair(-bytesOf(a->type), a) <
           std::make_pair(-bytesOf(b->type), b); // as given among equals
  });

  std::string header;
  llvm::raw_string_ostream text(header);
  llvm::json::OStream json(text);
  int64_t offset = 0;
  json.object([&] {
    for (const StoredTensor *tensor : order) {
      int64_t end = offset + int64_t(tensor->bytes.size());
      json.attributeObject(llvm::json::fixUTF8(tensor->name), [&] {
        json.attribute("dtype", nameOf(tensor->type));
        json.attributeArray("shape", [&] {
          for (int64_t extent : tensor->shape)
            json.value(extent);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(offset);
          json.value(end);
        });
      });
      offset = end;
    }
  });
  header.append((8 - header.size() % 8) % 8, ' ');

  WholeFile file(path);
  uint64_t length = header.size();
  file.write(llvm::StringRef(reinterpret_cast<char *>(&length), 8));
  file.write(llvm::StringRef(header));
  for (const StoredTensor *tensor : order)
    file.write(tensor->bytes);
  if (!file.commit()) {
    mlir::emitError(at) << file.problem();
    return Status::machine;
  }
  return Status::done;
}
