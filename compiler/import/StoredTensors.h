// The types and shapes of the tensors in a model's files (one file, or shards
// with an index), and the list of tensors that nobody asked for. Must read the
// headers only.
#pragma once
#include "compiler/import/Problems.h"
#include "compiler/import/WeightSource.h"
#include "compiler/weights/TensorFile.h"

#include <list>

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
  // Adds a file that is already open.
  void add(std::unique_ptr<TensorFile> file, llvm::StringRef shownAs);
  // Opens model.safetensors, or the shards of its index, in `folder`. If there
  // is neither, empty() holds and the result is true. False after an error.
  bool addFolder(llvm::StringRef folder, mlir::MLIRContext &context);

  bool empty() const { return files.empty(); }
  // Whether a file says that its tensors have Mille's names, as `mille init`
  // does.
  bool haveOwnNames() const;
  Entry *find(llvm::StringRef name);
  // Instead of files: finds under every name a tensor of f32, of the shape that
  // the first who asks for it wants, without numbers.
  void inventAll() { invents = true; }
  // The tensor under a name; if there is none, an invented one, or null.
  Entry *findOrInvent(llvm::StringRef name, llvm::ArrayRef<Dimension> shape);
  // The number of tensors of each type.
  size_t count(Encoding type) const;
  // In file order.
  std::vector<const Entry *> unused() const;
  // For messages, where a missing tensor was looked for: "model.safetensors" or
  // "2 shards".
  std::string where() const;

private:
  bool addShards(llvm::StringRef folder, llvm::StringRef index,
                 mlir::MLIRContext &context);
  std::vector<std::unique_ptr<TensorFile>> files;
  std::vector<std::string> order;
  llvm::StringMap<Entry> entries;
  bool invents = false;
  std::list<StoredTensor> invented;
};

// The expression of a stored tensor whose shape must be `shape`; null after an
// error that names both sides.
mlir::Attribute storedValue(const StoredTensors::Entry &entry,
                            llvm::ArrayRef<Dimension> shape, Problems &problems,
                            mlir::MLIRContext &context);

// Reports a missing tensor, which should have the shape `shape`.
void missingTensor(llvm::StringRef name, llvm::ArrayRef<Dimension> shape,
                   const StoredTensors &tensors, mlir::LocationAttr at,
                   Problems &problems);

// Finds tensors under Mille's own names.
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
