// Writes tensors to a safetensors file, those with the widest elements first,
// so that each is aligned. Must not leave a partial file.
#include "compiler/weights/Safetensors.h"
#include "compiler/weights/WholeFile.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mille;

namespace {

using Notes = llvm::ArrayRef<std::pair<std::string, std::string>>;

// Makes the header for tensors that follow each other.
class Header {
public:
  explicit Header(mlir::Location at) : at(at) {}

  // Adds a tensor. False after an error: its name is there twice.
  bool add(llvm::StringRef name, Encoding type, llvm::ArrayRef<int64_t> shape) {
    if (!names.insert(name).second) {
      mlir::emitError(at) << "tensor '" << name << "' would be written twice";
      return false;
    }
    int64_t bytes = blockBytes(type);
    for (int64_t extent : shape)
      if (llvm::MulOverflow(bytes, extent, bytes) ||
          llvm::AddOverflow(bytes, end, total)) {
        mlir::emitError(at)
            << "tensor '" << name << "' has more bytes than a file can hold";
        return false;
      }
    entries.push_back({name, type, shape, end, end + bytes});
    end += bytes;
    return true;
  }

  // The length and the JSON, padded so that the data is aligned.
  std::string text(Notes notes) const {
    std::string body;
    llvm::raw_string_ostream stream(body);
    llvm::json::OStream json(stream);
    json.object([&] {
      if (!notes.empty())
        json.attributeObject("__metadata__", [&] {
          for (auto &[key, value] : notes)
            json.attribute(key, llvm::json::fixUTF8(value));
        });
      for (const Entry &entry : entries)
        json.attributeObject(llvm::json::fixUTF8(entry.name), [&] {
          json.attribute("dtype", nameOf(entry.type));
          json.attributeArray("shape", [&] {
            for (int64_t extent : entry.shape)
              json.value(extent);
          });
          json.attributeArray("data_offsets", [&] {
            json.value(entry.begin);
            json.value(entry.end);
          });
        });
    });
    body.append((8 - body.size() % 8) % 8, ' ');
    uint64_t length = body.size();
    return std::string(reinterpret_cast<char *>(&length), 8) + body;
  }

private:
  struct Entry {
    llvm::StringRef name;
    Encoding type;
    llvm::ArrayRef<int64_t> shape;
    int64_t begin, end;
  };
  mlir::Location at;
  std::vector<Entry> entries;
  llvm::StringSet<> names;
  int64_t end = 0, total = 0;
};

Status finish(WholeFile &file, mlir::Location at) {
  if (file.commit())
    return Status::done;
  mlir::emitError(at) << file.problem();
  return Status::machine;
}

} // namespace

Status mille::writeSafetensors(llvm::StringRef path,
                               llvm::ArrayRef<StoredTensor> tensors,
                               mlir::MLIRContext &context) {
  mlir::Location at = mlir::FileLineColLoc::get(&context, path, 0, 0);
  std::vector<const StoredTensor *> order;
  for (const StoredTensor &tensor : tensors)
    order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](auto *a, auto *b) {
    return std::make_pair(-blockBytes(a->type), a) <
           std::make_pair(-blockBytes(b->type), b); // equal widths keep order
  });
  Header header(at);
  for (const StoredTensor *tensor : order)
    if (!header.add(tensor->name, tensor->type, tensor->shape))
      return Status::bug;
  WholeFile file(path);
  file.write(llvm::StringRef(header.text({})));
  for (const StoredTensor *tensor : order)
    file.write(tensor->bytes);
  return finish(file, at);
}

Status mille::writeSafetensors(llvm::StringRef path,
                               llvm::ArrayRef<ComputedTensor> tensors,
                               Notes notes, mlir::MLIRContext &context) {
  mlir::Location at = mlir::FileLineColLoc::get(&context, path, 0, 0);
  Header header(at);
  for (const ComputedTensor &tensor : tensors)
    if (!header.add(tensor.name, Encoding::f32, tensor.shape))
      return Status::bug;
  WholeFile file(path);
  file.write(llvm::StringRef(header.text(notes)));
  for (const ComputedTensor &tensor : tensors)
    if (!tensor.numbers([&](llvm::ArrayRef<float> numbers) {
          file.write(
              llvm::StringRef(reinterpret_cast<const char *>(numbers.data()),
                              numbers.size() * sizeof(float)));
        }))
      return Status::input;
  return finish(file, at);
}
