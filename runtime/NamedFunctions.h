// Functions of a library that is loaded at run time, found by their names.
#pragma once
#include <dlfcn.h>
#include <string.h>

namespace mille {

// Sets functions[i] to the i-th of `names`, each of which ends with a NUL, the
// last with two. Null, or the name of a function that there is not. A loop over
// one text: code for each function would be longer, and each address of a name
// a relocation.
inline const char *findFunctions(void *library, const char *names,
                                 void **functions) {
  for (const char *name = names; *name; name += strlen(name) + 1)
    if (!(*functions++ = dlsym(library, name)))
      return name;
  return nullptr;
}

} // namespace mille
