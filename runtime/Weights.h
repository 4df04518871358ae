// The weights file: mapped, or embedded in the object; checked before use.
// Must not copy it.
#pragma once
#include "runtime/Memory.h"
#include "runtime/abi.h"

namespace mille {

struct Weights {
  const char *data = nullptr;      // header first
  const uint64_t *table = nullptr; // the file's table
  const char *tensors = nullptr;   // mille_run.weights
  uint64_t bytes = 0;
  bool mapped = false;

  // path null: embedded. Leaves nothing open when it fails.
  mille_status open(const mille_model &model, const char *path, bool verifyHash,
                    Message &message);
  void close();

private:
  mille_status map(const mille_model &model, const char *path,
                   Message &message);
  mille_status check(const mille_model &model, const char *path,
                     bool verifyHash, Message &message);
};

} // namespace mille
