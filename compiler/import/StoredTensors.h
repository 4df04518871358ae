// The tensors of a model's files: one file, or shards under an index. Headers
// only; gives types and shapes, and which tensors nobody asked for.
#pragma once
#include "compiler/import/Problems.h"
#include "compiler/import/WeightSource.h"
#include "compiler/weights/TensorFile.h"

namespace mille::import {

class StoredTensors {
public:
  struct Entry {
    std::string file;     // as `stored` names it
    llvm::StringRef path; // for messages
    const StoredTensor *tensor = nullptr;
    bool used = false;
  };

  // `path`: a file of tensors, named `shownAs` in the model.
  bool addFile(llvm::StringRef path, llvm::StringRef shownAs,
               mlir::MLIRContext &context);
  // A file already open.
  void add(std::unique_ptr<TensorFile> file, llvm::StringRef shownAs);
  // model.safetensors, or the shards of its index, in `folder`. True also when
  // there is neither (empty() then); false after an error.
  bool addFolder(llvm::StringRef folder, mlir::MLIRContext &context);

  bool empty() const { return files.empty(); }
  // Whether a file says that its tensors have Mille's names, as `mille init`
  // does.
  bool haveOwnNames() const;
  Entry *find(llvm::StringRef name);
  // How many tensors are of a type.
  size_t count(Encoding type) const;
  // In file order.
  std::vector<const Entry *> unused() const;
  // "model.safetensors" or "2 shards": where a missing tensor was looked for.
  std::string where() const;

private:
  bool addShards(llvm::StringRef folder, llvm::StringRef index,
                 mlir::MLIRContext &context);
  std::vector<std::unique_ptr<TensorFile>> files;
  std::vector<std::string> order;
  llvm::StringMap<Entry> entries;
};

// The expression of a stored tensor whose shape must be `shape`; null after an
// error that names both sides.
mlir::Attribute storedValue(const StoredTensors::Entry &entry,
                            llvm::ArrayRef<Dimension> shape, Problems &problems,
                            mlir::MLIRContext &context);

// The error for a tensor that is not there. `shape` says what it should be.
void missingTensor(llvm::StringRef name, llvm::ArrayRef<Dimension> shape,
                   const StoredTensors &tensors, mlir::LocationAttr at,
                   Problems &problems);

// Tensors under Mille's own names.
class NativeWeights : public WeightSource {
public:
  NativeWeights(StoredTensors &tensors, mlir::LocationAttr at,
                Problems &problems, mlir::MLIRContext &context)
      : tensors(tensors), at(at), problems(problems), context(context) {}
  mlir::Attribute value(const Wanted &wanted) override;

private:
  StoredTensors &tensors;
  mlir::LocationAttr at;
  Problems &problems;
  mlir::MLIRContext &context;
};

} // namespace mille::import
