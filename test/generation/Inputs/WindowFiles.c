/* Damaged files of a sequence whose layers have windows, each with the sum that
 * belongs to it: refused by a sentence, or the same logits as before, since the
 * ids run again: windowfiles WEIGHTS FILE */
#include "tiny.h"

#include "mille_generation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { held = 1100, context = 1504, most = 512, room = 1 << 20, tries = 10 };

static const mille_generation_runtime runtime = MILLE_GENERATION_RUNTIME;
static mille_generation *g;
static float plain[most]; /* logits after a further id */
static unsigned char good[room], bytes[room];
static size_t size;
static const char *path;

static void check(int holds, const char *what, int line) {
  if (holds)
    return;
  fprintf(stderr, "%d: %s: %s\n", line, what, mille_generation_message(g));
  exit(1);
}
#define CHECK(truth) check(truth, #truth, __LINE__)
/* Fails with these words. */
#define REFUSED(call, words)                                                   \
  CHECK((call) != MILLE_OK && strstr(mille_generation_message(g), words))

/* The header, as generation/StateFile.cpp has it. */
enum {
  magicAt = 0,
  versionAt = 8,
  flagsAt = 12,
  bytesAt = 16,
  checkAt = 24,
  modelAt = 32,
  heldAt = 40,
  ranAt = 48,
  vocabularyAt = 56,
  sourceAt = 64,
  stateBytesAt = 72,
  numbersAt = 80,
  headerBytes = 88
};

static uint64_t sum(uint64_t so, const unsigned char *from, size_t count) {
  for (size_t i = 0; i < count; ++i)
    so = (so ^ from[i]) * 1099511628211ull;
  return so;
}

static void put(int sums) {
  if (sums) {
    memset(bytes + checkAt, 0, 8);
    const uint64_t all = sum(
        sum(14695981039346656037ull, bytes + headerBytes, size - headerBytes),
        bytes, headerBytes);
    memcpy(bytes + checkAt, &all, 8);
  }
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(bytes, 1, size, file) == size && !fclose(file));
  memcpy(bytes, good, size);
}

/* Seeded numbers. */
static uint64_t drawn(void) {
  static uint64_t state = 11;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return state >> 16;
}

static mille_status load(void) {
  int64_t s;
  const mille_status status = mille_sequence_load(g, path, &s);
  if (status == MILLE_OK)
    CHECK(mille_sequence_close(g, s) == MILLE_OK);
  return status;
}

/* What is loaded goes on as the sequence that was saved, or says why not. */
static void goesOn(int may_refuse) {
  static const int32_t id = 7;
  const float *logits;
  size_t count;
  int64_t s;
  CHECK(mille_sequence_load(g, path, &s) == MILLE_OK);
  CHECK(mille_sequence_append(g, s, &id, 1) == MILLE_OK);
  const mille_status status = mille_generation_decode(g);
  if (status != MILLE_OK) {
    CHECK(may_refuse && strstr(mille_generation_message(g), "windows"));
  } else {
    CHECK(mille_sequence_logits(g, s, &logits, &count) == MILLE_OK);
    CHECK(memcmp(logits, plain, count * sizeof *logits) == 0);
  }
  CHECK(mille_sequence_close(g, s) == MILLE_OK);
}

static void saved(void) {
  static int32_t text[held + 1];
  const float *logits;
  size_t count;
  int64_t s;
  for (int t = 0; t < held; ++t)
    text[t] = (int32_t)((t * 2654435761u) >> 20) % 60 + 2;
  text[held] = 7;
  CHECK(mille_sequence_open(g, &s) == MILLE_OK);
  CHECK(mille_sequence_append(g, s, text, held) == MILLE_OK);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  CHECK(mille_sequence_save(g, s, path) == MILLE_OK);
  CHECK(mille_sequence_append(g, s, text + held, 1) == MILLE_OK);
  CHECK(mille_generation_decode(g) == MILLE_OK);
  CHECK(mille_sequence_logits(g, s, &logits, &count) == MILLE_OK);
  CHECK(count <= most);
  memcpy(plain, logits, count * sizeof *logits);
  CHECK(mille_sequence_close(g, s) == MILLE_OK);
  FILE *file = fopen(path, "rb");
  CHECK(file && (size = fread(good, 1, room, file)) > headerBytes &&
        size < room && !fclose(file));
  memcpy(bytes, good, size);
}

/* Each field of the header as a seeded number. */
static void fields(void) {
  static const struct {
    int at, width;
    const char *words;
  } all[] = {
      {magicAt, 8, "it does not begin as a file of a sequence"},
      {versionAt, 4, "is of version "},
      {flagsAt, 4, "its header contradicts itself"},
      {bytesAt, 8, "it has more or fewer bytes than its header says"},
      {modelAt, 8, "is of another model"},
      {heldAt, 8, "its header contradicts itself"},
      {ranAt, 8, "its header contradicts itself"},
      {vocabularyAt, 8, "its header contradicts itself"},
      {sourceAt, 8, "its header contradicts itself"},
      {numbersAt, 8, "numbers of a token but the outputs of model tiny have "},
  };
  for (size_t f = 0; f < sizeof all / sizeof *all; ++f)
    for (int n = 0; n < tries; ++n) {
      const uint64_t number = n < 2 ? (uint64_t)-1 + n : drawn() | 1 << 20;
      if (memcmp(good + all[f].at, &number, all[f].width) == 0)
        continue;
      memcpy(bytes + all[f].at, &number, all[f].width);
      put(1);
      /* Flags 0: no logits, where some are. */
      REFUSED(load(),
              number || all[f].at != flagsAt ? all[f].words : "is damaged: ");
    }
}

/* Without the sum that belongs to it any byte is seen. */
static void anywhere(void) {
  for (int n = 0; n < 10 * tries; ++n) {
    const size_t at = headerBytes + drawn() % (size - headerBytes);
    bytes[at] ^= (unsigned char)(1 + drawn() % 255);
    put(0);
    REFUSED(load(), "its bytes are not those that were written");
  }
  for (int n = 0; n < tries; ++n) {
    const size_t whole = size;
    size = drawn() % whole;
    put(0);
    size = whole;
    memcpy(bytes, good, size);
    REFUSED(load(), "is damaged: ");
  }
}

/* The first row that a window holds stands behind the rows of each state: the
 * last four bytes of its last piece. */
static void firstRows(void) {
  const size_t full = 1 << 16;
  int64_t numbers;
  size_t found = 0;
  memcpy(&numbers, good + numbersAt, 8);
  size_t at = headerBytes + held * 4 + (size_t)numbers * 4;
  for (uint64_t piece; at + 8 <= size; at += 8 + piece) {
    memcpy(&piece, good + at, 8);
    CHECK(piece <= full && at + 8 + piece <= size);
    int32_t first;
    const size_t last = at + 8 + piece - sizeof first;
    memcpy(&first, good + last, sizeof first);
    if (!piece || piece == full || first < 16 || first % 16 || first > held)
      continue;
    ++found;
    for (int n = 0; n < tries; ++n) {
      const int32_t wrong = n % 2 ? -(int32_t)(drawn() % (1 << 30)) - 1
                                  : (int32_t)(drawn() % (1 << 30)) | 1;
      memcpy(bytes + last, &wrong, sizeof wrong);
      put(1);
      goesOn(1);
    }
  }
  CHECK(at == size && found >= 2); /* keys and values */
}

int main(int count, char **arguments) {
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  mille_package *package;
  char why[512] = "";
  if (count != 3 || mille_package_open(tiny_model(), arguments[1], NULL,
                                       &package, why, sizeof why) != MILLE_OK) {
    fprintf(stderr, "%s\n", why);
    return 1;
  }
  path = arguments[2];
  options.sequences = 1;
  options.context = context;
  options.piece = 64;
  if (mille_generation_create(&runtime, package, &options, &g, why,
                              sizeof why) != MILLE_OK) {
    fprintf(stderr, "%s\n", why);
    return 1;
  }
  saved();
  put(1);
  goesOn(0);
  fields();
  anywhere();
  firstRows();
  /* States of another size: the ids run again. */
  const uint64_t other = drawn();
  memcpy(bytes + stateBytesAt, &other, 8);
  put(1);
  goesOn(0);
  mille_generation_close(g);
  mille_package_close(package);
  puts("refused, or the same again");
  return 0;
}
