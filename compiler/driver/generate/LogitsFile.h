// The logits that the tokens of an answer were drawn from, as a file.
// Must not draw.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/MLIRContext.h"

#include <string>
#include <vector>

namespace mille {

class LogitsFile {
public:
  // path: "" where none is asked for.
  explicit LogitsFile(std::string path) : path(std::move(path)) {}

  bool isWanted() const { return !path.empty(); }
  // A token of the answer, and the logits that it was drawn from: as many for
  // each token.
  void add(int32_t id, llvm::ArrayRef<float> logits);
  // Writes `ids`, i32 [tokens], and `logits`, f32 [tokens, vocabulary], whole
  // or not at all; nothing where no file is wanted.
  Status write(mlir::MLIRContext &context) const;

private:
  std::string path;
  std::vector<int32_t> ids;
  std::vector<float> all;
};

} // namespace mille
