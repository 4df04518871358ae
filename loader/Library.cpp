// Loads a package's shared library.
#include "loader/Library.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

using namespace mille;

namespace {

template <typename Function> struct Missing;
template <typename Result, typename... Arguments>
struct Missing<Result (*)(Arguments...)> {
  static Result call(Arguments...) { return result(static_cast<Result *>(0)); }
  static mille_status result(mille_status *) { return MILLE_INVALID_ARGUMENT; }
  static uint64_t result(uint64_t *) { return 0; }
  static const char *result(const char **) {
    return "the package's runtime lacks this function: compile the package "
           "again, with --train for a trainer";
  }
};

__attribute__((format(printf, 3, 4))) mille_status fail(char *message,
                                                        size_t messageSize,
                                                        const char *format,
                                                        ...) {
  va_list values;
  va_start(values, format);
  if (message && messageSize)
    vsnprintf(message, messageSize, format, values);
  va_end(values);
  return MILLE_FILE_ERROR;
}

} // namespace

mille_status Library::find(const char *symbol, void *&found, char *message,
                           size_t messageSize) {
  found = dlsym(handle, symbol);
  return found ? MILLE_OK
               : fail(message, messageSize,
                      "the package's library has no symbol %s", symbol);
}

mille_status Library::takeFunctions(const mille_functions &table, char *message,
                                    size_t messageSize) {
  // Without these nothing can be opened, nor said why.
  constexpr size_t least = offsetof(mille_functions, mille_package_entry_count);
  if (table.size < least || table.size > 1 << 16)
    return fail(message, messageSize,
                "the package's library has a function table of %zu bytes but "
                "tables have from %zu to %d: compile it again",
                table.size, least, 1 << 16);
  known.size = sizeof known;
#define MILLE_FUNCTION(name)                                                   \
  known.name = offsetof(mille_functions, name) < table.size && table.name      \
                   ? table.name                                                \
                   : Missing<decltype(known.name)>::call;
#include "runtime/functions.def"
  return MILLE_OK;
}

// Null: of a package that cannot be trained.
void Library::takeTraining(const mille_training_functions *table) {
#define MILLE_FUNCTION(name)                                                   \
  known.name =                                                                 \
      table && offsetof(mille_training_functions, name) < table->training_size \
          ? table->name                                                        \
          : Missing<decltype(known.name)>::call;
#include "runtime/training.def"
}

// dlopen ends the process where a file is shorter than it says: of an object
// file the last part is its table of sections.
static mille_status findEnd(const char *path, char *message,
                            size_t messageSize) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return MILLE_OK; // dlopen says why
  Elf64_Ehdr header;
  struct stat status;
  const bool known = fread(&header, sizeof header, 1, file) == 1 &&
                     !memcmp(header.e_ident, ELFMAG, SELFMAG) &&
                     header.e_ident[EI_CLASS] == ELFCLASS64 &&
                     !fstat(fileno(file), &status);
  fclose(file);
  if (!known)
    return MILLE_OK;
  const unsigned long long size = status.st_size;
  unsigned long long most;
  if (__builtin_add_overflow(header.e_shoff,
                             1ull * header.e_shnum * header.e_shentsize, &most))
    most = ~0ull;
  return size >= most ? MILLE_OK
                      : fail(message, messageSize,
                             "the package's library has %llu bytes but its "
                             "header says %llu",
                             size, most);
}

mille_status Library::load(const char *path, const char *name, char *message,
                           size_t messageSize) {
  if (mille_status whole = findEnd(path, message, messageSize);
      whole != MILLE_OK)
    return whole;
  handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    return fail(message, messageSize,
                "the package's library cannot be loaded: %s", why ? why : "");
  }
  char symbol[512];
  const int length = snprintf(symbol, sizeof symbol, "%s_model", name);
  void *table, *model;
  mille_status status =
      find("mille_function_table", table, message, messageSize);
  if (status == MILLE_OK)
    status = takeFunctions(*static_cast<const mille_functions *>(table),
                           message, messageSize);
  takeTraining(static_cast<const mille_training_functions *>(
      dlsym(handle, "mille_training_function_table")));
  if (status == MILLE_OK && length >= int(sizeof symbol))
    status = fail(message, messageSize,
                  "the package's name has %zu bytes, which is too many",
                  strlen(name));
  if (status == MILLE_OK)
    status = find(symbol, model, message, messageSize);
  if (status == MILLE_OK)
    modelOf = reinterpret_cast<const mille_model *(*)()>(model);
  else
    unload();
  return status;
}

void Library::unload() {
  if (handle)
    dlclose(handle);
  handle = nullptr;
}
