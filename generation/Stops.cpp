// Holds back text that may begin a stop. Must not know where the text is from.
#include "generation/mille_generation.h"

#include <stdlib.h>
#include <string.h>

namespace {

struct Stop {
  const char *bytes;
  size_t size;
};

} // namespace

// One allocation holds this struct, the stops, their bytes and the held bytes.
struct mille_stops {
  Stop *list;
  size_t count;
  char *waiting; // room for the longest stop
  size_t waits;
  int stopped;

  // Whether a stop is whole at the end of what waits; its size.
  size_t whole() const {
    for (size_t i = 0; i < count; ++i)
      if (waits >= list[i].size &&
          !memcmp(waiting + waits - list[i].size, list[i].bytes, list[i].size))
        return list[i].size;
    return 0;
  }
  // The size of the longest end of the held text that begins a stop.
  size_t begun() const {
    for (size_t size = waits; size > 0; --size)
      for (size_t i = 0; i < count; ++i)
        if (size < list[i].size &&
            !memcmp(waiting + waits - size, list[i].bytes, size))
          return size;
    return 0;
  }
};

extern "C" {

mille_status mille_stops_create(const char *const *texts, const size_t *sizes,
                                size_t count, mille_stops **stops) {
  if (!stops)
    return MILLE_INVALID_ARGUMENT;
  *stops = nullptr;
  if (count && (!texts || !sizes))
    return MILLE_INVALID_ARGUMENT;
  size_t bytes = sizeof(mille_stops), longest = 0, all = 0;
  bool fits = !__builtin_mul_overflow(count, sizeof(Stop), &all) &&
              !__builtin_add_overflow(bytes, all, &bytes);
  for (size_t i = 0; i < count; ++i) {
    if (!texts[i] || !sizes[i])
      return MILLE_INVALID_ARGUMENT;
    fits = fits && !__builtin_add_overflow(bytes, sizes[i], &bytes);
    longest = sizes[i] > longest ? sizes[i] : longest;
  }
  fits = fits && !__builtin_add_overflow(bytes, longest, &bytes);
  auto *made = static_cast<mille_stops *>(fits ? calloc(1, bytes) : nullptr);
  if (!made)
    return MILLE_OUT_OF_MEMORY;
  made->list = reinterpret_cast<Stop *>(made + 1);
  made->count = count;
  char *next = reinterpret_cast<char *>(made->list + count);
  for (size_t i = 0; i < count; ++i) {
    memcpy(next, texts[i], sizes[i]);
    made->list[i] = {next, sizes[i]};
    next += sizes[i];
  }
  made->waiting = next;
  *stops = made;
  return MILLE_OK;
}

void mille_stops_close(mille_stops *stops) { free(stops); }

mille_status
mille_stops_push(mille_stops *stops, const char *bytes, size_t size,
                 void (*write)(void *user, const char *bytes, size_t size),
                 void *user, int *stopped) {
  if (!stops || (size && !bytes) || !write)
    return MILLE_INVALID_ARGUMENT;
  if (!stops->count && size)
    write(user, bytes, size);
  for (size_t at = 0; stops->count && at < size && !stops->stopped; ++at) {
    // What waits begins a stop, so there is room for one more byte.
    stops->waiting[stops->waits++] = bytes[at];
    const size_t stop = stops->whole();
    const size_t kept = stop ? stop : stops->begun();
    const size_t sure = stops->waits - kept;
    if (sure)
      write(user, stops->waiting, sure);
    memmove(stops->waiting, stops->waiting + sure, kept);
    stops->waits = stop ? 0 : kept;
    stops->stopped = stop != 0;
  }
  if (stopped)
    *stopped = stops->stopped;
  return MILLE_OK;
}

mille_status mille_stops_finish(mille_stops *stops,
                                void (*write)(void *user, const char *bytes,
                                              size_t size),
                                void *user) {
  if (!stops || !write)
    return MILLE_INVALID_ARGUMENT;
  if (stops->waits)
    write(user, stops->waiting, stops->waits);
  stops->waits = 0;
  stops->stopped = 0;
  return MILLE_OK;
}
}
