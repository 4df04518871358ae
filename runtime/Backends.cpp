// Which devices a machine has, of each back end. Must not name a mille_backend:
// a model's code brings those that it was compiled for, and no other.
#include "runtime/Backends.h"

#include "runtime/Memory.h"

#include <stdio.h>
#include <string.h>

// Each back end's list() writes up to `room` of its devices and says how many
// there are. If there are none, the message says why.
#define MILLE_DECLARE_LIST(name)                                               \
  namespace mille::name {                                                      \
  mille_status list(mille_device *devices, size_t room, size_t &count,         \
                    Message &message);                                         \
  }
MILLE_BACKENDS(MILLE_DECLARE_LIST)
#undef MILLE_DECLARE_LIST

namespace {

struct Listing {
  const char *name;
  mille_status (*list)(mille_device *devices, size_t room, size_t &count,
                       mille::Message &message);
};

#define MILLE_LISTING(name) {#name, mille::name::list},
constexpr Listing listings[] = {MILLE_BACKENDS(MILLE_LISTING)};
#undef MILLE_LISTING

#define MILLE_NAME_BACKEND(name) " " #name
constexpr char names[] = MILLE_BACKENDS(MILLE_NAME_BACKEND);
#undef MILLE_NAME_BACKEND

} // namespace

extern "C" mille_status mille_devices(const char *backend,
                                      mille_device *devices, size_t room,
                                      size_t *count, char *text, size_t size) {
  mille::Message message;
  *count = 0;
  mille_status status = MILLE_INVALID_ARGUMENT;
  message.set(status, "back end is '%s' but this runtime has:%s",
              backend ? backend : "", names);
  for (const Listing &known : listings)
    if (backend && strcmp(known.name, backend) == 0)
      status = known.list(devices, room, *count, message);
  if (status != MILLE_OK && text && size)
    snprintf(text, size, "%s", message.text);
  return status;
}
