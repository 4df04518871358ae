// Words of statuses, and the version: what the runtime and the loader share.
// Must not need another file.
#include "runtime/mille.h"

extern "C" {

const char *mille_status_name(mille_status status) {
  switch (status) {
  case MILLE_OK:
    return "ok";
  case MILLE_INVALID_ARGUMENT:
    return "invalid argument";
  case MILLE_INVALID_INPUT:
    return "invalid input";
  case MILLE_TOO_LARGE:
    return "too large";
  case MILLE_OUT_OF_MEMORY:
    return "out of memory";
  case MILLE_FILE_ERROR:
    return "file error";
  case MILLE_BAD_WEIGHTS:
    return "bad weights";
  case MILLE_UNSUPPORTED_CPU:
    return "unsupported CPU";
  case MILLE_CANCELLED:
    return "cancelled";
  case MILLE_INTERNAL:
    return "internal error";
  case MILLE_NO_DEVICE:
    return "no device";
  }
  return "unknown status";
}

#define TEXT(x) #x
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)
const char *mille_version(void) {
  return VERSION(MILLE_VERSION_MAJOR, MILLE_VERSION_MINOR, MILLE_VERSION_PATCH);
}
}
