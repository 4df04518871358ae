// A package's loaded NAME.so: its model, and the functions of the runtime that
// it brings. Must not open weights.
#pragma once
#include "runtime/Functions.h"

namespace mille {

struct LibraryFunctions : mille_functions, mille_training_functions {};

class Library {
public:
  // Loads `path`, which dlopen looks for in no list of folders, and finds
  // NAME_model. MILLE_FILE_ERROR with a sentence in `message` otherwise.
  mille_status load(const char *path, const char *name, char *message,
                    size_t messageSize);
  void unload();

  const mille_model *model() const { return modelOf(); }
  // All functions that this build knows, of the library's own runtime. One that
  // an older runtime lacks returns MILLE_INVALID_ARGUMENT.
  const LibraryFunctions &functions() const { return known; }

private:
  mille_status find(const char *symbol, void *&found, char *message,
                    size_t messageSize);
  mille_status takeFunctions(const mille_functions &table, char *message,
                             size_t messageSize);
  void takeTraining(const mille_training_functions *table);

  void *handle = nullptr;
  const mille_model *(*modelOf)() = nullptr;
  LibraryFunctions known = {};
};

} // namespace mille
