// Opens files that are parts of one model: NAME-00001-of-00003.gguf and so on.
// The first has all keys; each has its own tensors.
#include "compiler/import/gguf/GgufModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mille;
using namespace mille::import;
using llvm::StringRef;

static std::string partSuffix(int64_t part, int64_t parts) {
  return llvm::formatv("-{0,0+5}-of-{1,0+5}.gguf", part, parts).str();
}

StringRef mille::import::stemOfParts(StringRef file) {
  file.consume_back(".gguf");
  constexpr size_t length = StringRef("-00001-of-00003").size();
  StringRef suffix = file.take_back(length);
  const bool part = suffix.size() == length && suffix[0] == '-' &&
                    suffix.substr(6, 4) == "-of-" &&
                    llvm::all_of(suffix.substr(1, 5), llvm::isDigit) &&
                    llvm::all_of(suffix.substr(10, 5), llvm::isDigit);
  return part && file.size() > length ? file.drop_back(length) : file;
}

namespace {

class PartFiles {
public:
  PartFiles(StringRef path, StoredTensors &tensors, mlir::MLIRContext &context)
      : path(path), tensors(tensors), context(context) {}

  const Gguf *open() {
    std::unique_ptr<Gguf> first = Gguf::open(path, context);
    if (!first)
      return nullptr;
    const Gguf *file = first.get();
    const int64_t parts = file->integer("split.count").value_or(1);
    const int64_t part = file->integer("split.no").value_or(0);
    const std::string own = partSuffix(part + 1, parts);
    if (parts > 1 && (part != 0 || !path.ends_with(own))) {
      error(path) << "the file says that it is part " << part + 1 << " of "
                  << parts
                  << (part != 0 ? " but a model is given by its first part"
                                : " but its name does not end in " + own);
      return nullptr;
    }
    if (!add(std::move(first), path))
      return nullptr;
    for (int64_t i = 1; i < parts; ++i)
      if (!addPart(i, parts))
        return nullptr;
    const auto all = file->integer("split.tensors.count");
    if (parts > 1 && all && uint64_t(*all) != names.size()) {
      error(path) << "split.tensors.count is " << *all << " but the " << parts
                  << " parts have " << names.size() << " tensors";
      return nullptr;
    }
    return file;
  }

private:
  mlir::InFlightDiagnostic error(StringRef file) {
    return mlir::emitError(mlir::FileLineColLoc::get(&context, file, 0, 0));
  }

  bool addPart(int64_t part, int64_t parts) {
    const std::string suffix = partSuffix(part + 1, parts);
    const std::string other = path.drop_back(suffix.size()).str() + suffix;
    std::unique_ptr<Gguf> file = Gguf::open(other, context);
    if (!file)
      return false;
    const int64_t no = file->integer("split.no").value_or(0);
    const int64_t count = file->integer("split.count").value_or(1);
    if (no != part || count != parts) {
      error(other) << "the file says that it is part " << no + 1 << " of "
                   << count << " but it is read as part " << part + 1 << " of "
                   << parts;
      return false;
    }
    return add(std::move(file), other);
  }

  bool add(std::unique_ptr<Gguf> file, StringRef of) {
    for (const StoredTensor &tensor : file->tensors())
      if (!names.insert(tensor.name).second) {
        error(of) << "tensor '" << tensor.name
                  << "' is in another part of the model, too";
        return false;
      }
    tensors.add(std::move(file), llvm::sys::path::filename(of));
    return true;
  }

  StringRef path;
  StoredTensors &tensors;
  mlir::MLIRContext &context;
  llvm::StringSet<> names;
};

} // namespace

const Gguf *mille::import::openParts(StringRef path, StoredTensors &tensors,
                                     mlir::MLIRContext &context) {
  return PartFiles(path, tensors, context).open();
}
