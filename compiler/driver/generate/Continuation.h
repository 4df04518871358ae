// A sequence that a package's entry `next` continues, token by token.
// Must not know how the next token is chosen.
#pragma once
#include "compiler/driver/package/Compiled.h"

namespace mille {

class Continuation {
public:
  // A session that holds up to `context` tokens. An error where the package
  // has no such entry, or where it wants more than ids.
  static Status open(const Package &package, mlir::MLIRContext &context,
                     unsigned threads, int64_t tokens,
                     std::unique_ptr<Continuation> &continuation);

  // Puts ids behind those that the sequence holds; the logits are the last
  // one's then. There must be room for them.
  Status append(llvm::ArrayRef<int32_t> ids);

  // Holds these ids: what it holds of them already stays, the others run.
  // ran: how many. There is at least one id, and the last one always runs.
  Status follow(llvm::ArrayRef<int32_t> ids, size_t &ran);

  llvm::ArrayRef<int32_t> held() const { return ids; }
  llvm::ArrayRef<float> logits() const;
  int64_t vocabulary() const;

private:
  Status findPorts(mlir::MLIRContext &context);
  Status run(llvm::ArrayRef<int32_t> piece);

  std::unique_ptr<Compiled> compiled;
  std::vector<int32_t> ids;
  size_t idsInput = 0, pastInput = 0, logitsOutput = 0;
  std::vector<std::vector<float>> outputs;
};

} // namespace mille
