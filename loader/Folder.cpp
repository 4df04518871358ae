// Finds a package's files and opens them. Must not read the manifest: the
// package's code has all that a program may ask for.
#include "loader/Handles.h"
#include "loader/mille_loader.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

struct Answer {
  char *text;
  size_t size;

  __attribute__((format(printf, 3, 4))) mille_status fail(mille_status status,
                                                          const char *format,
                                                          ...) const {
    va_list values;
    va_start(values, format);
    if (text && size)
      vsnprintf(text, size, format, values);
    va_end(values);
    return status;
  }
};

// FOLDER/NAME.so, NAME, FOLDER/NAME.weights.
struct Files {
  char library[PATH_MAX], name[NAME_MAX + 1], weights[PATH_MAX];

  mille_status find(const char *path, const Answer &answer);

private:
  mille_status findLibrary(const char *folder, const Answer &answer);
};

bool endsInSo(const char *name) {
  const size_t length = strlen(name);
  return length > 3 && !strcmp(name + length - 3, ".so");
}

} // namespace

// The one NAME.so in a folder goes to `name`.
mille_status Files::findLibrary(const char *folder, const Answer &answer) {
  DIR *entries = opendir(folder);
  if (!entries)
    return answer.fail(MILLE_FILE_ERROR, "%s: %s", folder, strerror(errno));
  int count = 0;
  while (const dirent *entry = readdir(entries))
    if (endsInSo(entry->d_name) && entry->d_name[0] != '.' && ++count == 1)
      strcpy(name, entry->d_name); // both have room for NAME_MAX bytes
  closedir(entries);
  if (count == 0)
    return answer.fail(MILLE_FILE_ERROR,
                       "%s is no package: there is no NAME.so in it", folder);
  if (count > 1)
    return answer.fail(MILLE_FILE_ERROR,
                       "%s holds %d packages but one is needed: give the path "
                       "of its NAME.so",
                       folder, count);
  return MILLE_OK;
}

mille_status Files::find(const char *path, const Answer &answer) {
  struct stat what;
  if (stat(path, &what))
    return answer.fail(MILLE_FILE_ERROR, "%s: %s", path, strerror(errno));
  const char *slash = strrchr(path, '/');
  int folder; // bytes of it in `path`
  if (S_ISDIR(what.st_mode)) {
    if (mille_status status = findLibrary(path, answer); status != MILLE_OK)
      return status;
    folder = int(strlen(path));
  } else {
    const char *file = slash ? slash + 1 : path;
    if (!endsInSo(file) || strlen(file) > NAME_MAX)
      return answer.fail(MILLE_FILE_ERROR,
                         "%s is neither a folder nor a NAME.so", path);
    strcpy(name, file);
    folder = slash ? int(slash - path) : 0;
  }
  name[strlen(name) - 3] = 0;
  // dlopen does not search other folders for a path that has a folder in it.
  const char *start = folder || slash ? path : ".";
  if (!folder)
    folder = slash ? 0 : 1;
  if (snprintf(library, sizeof library, "%.*s/%s.so", folder, start, name) >=
          int(sizeof library) ||
      snprintf(weights, sizeof weights, "%.*s/%s.weights", folder, start,
               name) >= int(sizeof weights))
    return answer.fail(MILLE_FILE_ERROR, "%s: %s", path,
                       strerror(ENAMETOOLONG));
  return MILLE_OK;
}

mille_status mille_package_open_folder(const char *path,
                                       const mille_options *options,
                                       mille_package **package, char *message,
                                       size_t message_size) {
  using namespace mille;
  const Answer answer{message, message_size};
  if (!package)
    return answer.fail(MILLE_INVALID_ARGUMENT, "package is null");
  *package = nullptr;
  if (!path)
    return answer.fail(MILLE_INVALID_ARGUMENT, "path is null");
  Files files;
  if (mille_status status = files.find(path, answer); status != MILLE_OK)
    return status;
  auto *fresh = static_cast<mille_package *>(handleMemory(sizeof **package));
  auto *library =
      static_cast<SharedLibrary *>(handleMemory(sizeof(SharedLibrary)));
  mille_status status =
      fresh && library
          ? library->load(files.library, files.name, message, message_size)
          : answer.fail(MILLE_OUT_OF_MEMORY, "%s", handleMessage());
  if (status != MILLE_OK) {
    free(library);
    free(fresh);
    return status;
  }
  const bool embedded = access(files.weights, F_OK) && errno == ENOENT;
  library->enter();
  fresh->library = library;
  status = library->functions().mille_package_open(
      library->model(), embedded ? nullptr : files.weights, options,
      &fresh->inner, message, message_size);
  if (status == MILLE_OK) {
    *package = fresh;
    return status;
  }
  library->leave();
  free(fresh);
  return status;
}
