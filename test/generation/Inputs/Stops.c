/* An answer in pieces of any size ends before the first stop that is whole. */
#include "FakeRuntime.h"

typedef struct {
  char bytes[64];
  size_t size;
} Written;

static void write(void *user, const char *bytes, size_t size) {
  Written *written = user;
  memcpy(written->bytes + written->size, bytes, size);
  written->size += size;
}

/* The same however the text is cut. */
static void check(mille_stops *stops, const char *text, const char *expected,
                  int stops_there) {
  const size_t size = strlen(text);
  for (size_t piece = 1; piece <= size + 1; ++piece) {
    Written written = {{0}, 0};
    int stopped = 0;
    for (size_t at = 0; at < size; at += piece)
      CHECK(mille_stops_push(stops, text + at,
                             piece < size - at ? piece : size - at, write,
                             &written, &stopped) == MILLE_OK);
    CHECK(stopped == stops_there);
    CHECK(mille_stops_finish(stops, write, &written) == MILLE_OK);
    CHECK(written.size == strlen(expected));
    CHECK(memcmp(written.bytes, expected, written.size) == 0);
  }
}

int main(void) {
  const char *texts[] = {"aab", "cd", "END"};
  const size_t sizes[] = {3, 2, 3}, none = 0;
  mille_stops *stops;
  CHECK(mille_stops_create(texts, sizes, 3, &stops) == MILLE_OK);
  check(stops, "aaab", "a", 1);
  check(stops, "xxcdyy", "xx", 1);
  check(stops, "aacaaENcENDcd", "aacaaENc", 1);
  check(stops, "aacaaEN", "aacaaEN", 0);
  check(stops, "", "", 0);
  mille_stops_close(stops);
  CHECK(mille_stops_create(NULL, NULL, 0, &stops) == MILLE_OK);
  check(stops, "any", "any", 0);
  mille_stops_close(stops);
  CHECK(mille_stops_create(texts, &none, 1, &stops) == MILLE_INVALID_ARGUMENT);
  CHECK(!stops);
  mille_stops_close(stops);
  puts("stopped before stops");
  return 0;
}
