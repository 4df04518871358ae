/* Saved to a file and opened in another generation: statefiles FILE. */
#include "FakeRuntime.h"

static mille_generation *made(mille_package *package, int64_t context,
                              int64_t *sequence) {
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  mille_generation *generation;
  options.context = context;
  options.sequences = 2;
  CHECK(mille_generation_create(&fakeRuntime, package, &options, &generation,
                                NULL, 0) == MILLE_OK);
  if (sequence)
    CHECK(mille_sequence_open(generation, sequence) == MILLE_OK);
  return generation;
}

static void checkSame(mille_generation *a, int64_t s, mille_generation *b,
                      int64_t t) {
  const int32_t *ids, *others;
  const float *logits, *theirs;
  size_t count, size;
  CHECK(mille_sequence_ids(a, s, &ids, &count) == MILLE_OK);
  CHECK(mille_sequence_ids(b, t, &others, &size) == MILLE_OK);
  CHECK(count == size && memcmp(ids, others, count * sizeof *ids) == 0);
  CHECK(mille_sequence_logits(a, s, &logits, &count) == MILLE_OK);
  CHECK(mille_sequence_logits(b, t, &theirs, &size) == MILLE_OK);
  CHECK(memcmp(logits, theirs, count * sizeof *logits) == 0);
}

static const int32_t prompt[] = {1, 5, 2, 9, 3, 7, 4};

/* room: of the generation that opens the file; another one's runs again, but
 * for sums, which do not depend on it. */
static void saved(mille_package *package, const char *path, int runs,
                  int64_t room) {
  int64_t s, t, held, closed;
  mille_generation *from = made(package, 32, &s);
  mille_generation *to = made(package, room, &held);
  CHECK(mille_sequence_open(to, &closed) == MILLE_OK);
  CHECK(mille_sequence_append(to, closed, prompt, 2) == MILLE_OK);
  CHECK(mille_generation_decode(to) == MILLE_OK);
  CHECK(mille_sequence_close(to, closed) == MILLE_OK);
  CHECK(mille_sequence_append(from, s, prompt, 7) == MILLE_OK);
  if (runs)
    CHECK(mille_generation_decode(from) == MILLE_OK);
  CHECK(mille_sequence_save(from, s, path) == MILLE_OK);
  CHECK(mille_generation_decode(from) == MILLE_OK);
  const int64_t before = package->runs;
  CHECK(mille_sequence_load(to, path, &t) == MILLE_OK);
  CHECK(t != held);
  CHECK(mille_generation_decode(to) == MILLE_OK);
  const int stands = runs && (room == 32 || package->sums);
  CHECK(package->runs ==
        before + (stands ? 0 : package->next + package->extend));
  checkSame(from, s, to, t);
  CHECK(mille_sequence_append(from, s, prompt, 2) == MILLE_OK);
  CHECK(mille_sequence_append(to, t, prompt, 2) == MILLE_OK);
  CHECK(mille_generation_decode(from) == MILLE_OK);
  CHECK(mille_generation_decode(to) == MILLE_OK);
  checkSame(from, s, to, t);
  mille_generation_close(from);
  mille_generation_close(to);
}

static size_t bytesOf(const char *path, char *into, size_t room) {
  FILE *file = fopen(path, "rb");
  CHECK(file);
  const size_t size = fread(into, 1, room, file);
  fclose(file);
  return size;
}
static void put(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(bytes, 1, size, file) == size && !fclose(file));
}

/* Any byte changed, any length: refused, and the generation goes on. */
static void damaged(mille_package *package, const char *path) {
  static char bytes[4096];
  const size_t size = bytesOf(path, bytes, sizeof bytes);
  int64_t t, number;
  mille_generation *g = made(package, 32, NULL);
  for (size_t at = 0; at < size; ++at) {
    bytes[at] ^= 1;
    put(path, bytes, size);
    const mille_status status = mille_sequence_load(g, path, &t);
    CHECK(status == MILLE_INVALID_INPUT || status == MILLE_TOO_LARGE);
    bytes[at] ^= 1;
  }
  for (size_t cut = 0; cut < size; ++cut) {
    put(path, bytes, cut);
    EXPECT(mille_sequence_load(g, path, &t), MILLE_INVALID_INPUT, g,
           "is damaged: ");
  }
  put(path, bytes, size);
  /* Two can be opened: none of the failures left one. */
  CHECK(mille_sequence_load(g, path, &number) == MILLE_OK && number == 0);
  CHECK(mille_sequence_load(g, path, &t) == MILLE_OK);
  EXPECT(mille_sequence_load(g, path, &t), MILLE_TOO_LARGE, g,
         "all 2 sequences are open");
  checkSame(g, number, g, t);
  mille_generation_close(g);
}

static void refusals(mille_package *package, const char *path) {
  int64_t s;
  mille_generation *small = made(package, 6, NULL);
  EXPECT(mille_sequence_load(small, path, &s), MILLE_TOO_LARGE, small,
         "holds 7 tokens but there is room for 6");
  EXPECT(mille_sequence_load(small, "/nowhere/file", &s), MILLE_FILE_ERROR,
         small, "/nowhere/file cannot be read: No such file");
  CHECK(mille_sequence_open(small, &s) == MILLE_OK);
  EXPECT(mille_sequence_save(small, s, "/nowhere/file"), MILLE_FILE_ERROR,
         small, "cannot be written: No such file");
  mille_generation_close(small);
  mille_package other = *package;
  other.hash = 2;
  mille_generation *g = made(&other, 32, NULL);
  EXPECT(mille_sequence_load(g, path, &s), MILLE_INVALID_INPUT, g,
         "is of another model: its hash is 0000000000000001 but that of model "
         "fake is 0000000000000002");
  mille_generation_close(g);
}

int main(int count, char **arguments) {
  mille_package packages[] = {
      {.next = 1, .extend = 1, .vocabulary = fakeVocabulary, .hash = 1},
      {.next = 1, .sums = 1, .vocabulary = fakeVocabulary, .hash = 1}};
  CHECK(count == 2);
  for (int i = 0; i < 2; ++i) {
    for (int runs = 0; runs < 2; ++runs) {
      saved(&packages[i], arguments[1], runs, 9);
      saved(&packages[i], arguments[1], runs, 32);
    }
    damaged(&packages[i], arguments[1]);
    refusals(&packages[i], arguments[1]);
  }
  puts("saved and opened");
  return 0;
}
