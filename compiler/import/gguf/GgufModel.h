// A GGUF file, or several that are parts of one, as a config in a family's
// words and tensors under its names.
#pragma once
#include "compiler/import/gguf/Architectures.h"

namespace mille::import {

// Opens a file and, where it is the first of several parts, the others. Null
// after an error; the files belong to `tensors`.
const Gguf *openParts(llvm::StringRef path, StoredTensors &tensors,
                      mlir::MLIRContext &context);

// `model.gguf` or `model-00001-of-00003.gguf` -> `model`
llvm::StringRef stemOfParts(llvm::StringRef file);

class GgufModel {
public:
  GgufModel(const Gguf &file, StoredTensors &tensors, Problems &problems,
            mlir::MLIRContext &context)
      : file(file), tensors(tensors), problems(problems), context(context) {}

  // False after errors among the problems.
  bool read();
  // What the file says that a config cannot; after the config was read.
  void adjust(ModelSpec &model) const;
  // Notes of which keys the words in problems came from.
  void explain() const {
    if (words)
      words->explain();
  }

  const Architecture *architecture = nullptr;
  std::unique_ptr<json::Document> config;
  std::vector<double> ropeFactors;

private:
  void sayWords();
  void compareVocabulary();
  void noteTypes();

  const Gguf &file;
  StoredTensors &tensors;
  Problems &problems;
  mlir::MLIRContext &context;
  std::unique_ptr<Words> words;
};

} // namespace mille::import
