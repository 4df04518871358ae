/* The library of a package whose runtime has the first five functions only. */
#include "runtime/mille.h"

#include <stdio.h>

#ifndef SIZE
#define SIZE (sizeof(size_t) + 5 * sizeof(void *))
#endif

struct mille_model {
  int nothing;
};
struct mille_package {
  int nothing;
};

static struct mille_model model;

__attribute__((visibility("default"))) const struct mille_model *
text_model(void) {
  return &model;
}

static mille_status openPackage(const struct mille_model *of, const char *path,
                                const mille_options *options,
                                mille_package **package, char *message,
                                size_t size) {
#ifdef OPENS
  static struct mille_package one;
  *package = &one;
  return MILLE_OK;
#else
  snprintf(message, size, "this runtime opens nothing");
  return MILLE_OUT_OF_MEMORY;
#endif
}
static mille_status closePackage(mille_package *package) { return MILLE_OK; }
static const char *messageOf(const mille_package *package) {
  return "of an old runtime";
}

__attribute__((visibility("default"))) const struct {
  size_t size;
  const void *functions[5];
} mille_function_table = {SIZE,
                          {(void *)mille_status_name, (void *)mille_version,
                           (void *)openPackage, (void *)closePackage,
                           (void *)messageOf}};

const char *mille_status_name(mille_status status) { return "status"; }
const char *mille_version(void) { return "0.0.1"; }
