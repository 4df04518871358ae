// Presents a GGUF file, or the parts of one, as the config and the tensors of a
// family. Must not describe the model: the family does.
#pragma once
#include "compiler/import/gguf/Architectures.h"

namespace mille::import {

// Opens a file and, if it is the first of several parts, the others. Null after
// an error. `tensors` owns the files.
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
  // Adds facts of the file that a config cannot express. Call it after the
  // config was read.
  void adjust(ModelSpec &model) const;
  // Adds notes that name the GGUF keys behind the config keys in problems.
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
