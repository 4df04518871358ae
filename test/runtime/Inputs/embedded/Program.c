/* An application with a compiled model in it: a sequence's bits are the same
 * for any threads, any batch, any place in the batch, any run, and whatever was
 * in the session's memory before.
 * Program WEIGHTS [ISA] */
#include "tiny.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { mostTokens = 37, most = 17, columns = 16, words = 48 };

static mille_package *package;
static uint32_t poison; /* what fresh memory is filled with */
static int32_t ids[most * mostTokens], mask[most * mostTokens];
static float hidden[most * mostTokens * columns];
static float logits[most * mostTokens * words];
static float wantedHidden[most * mostTokens * columns];
static float wantedLogits[most * mostTokens * words];
static int runs;

static void *allocate(void *user, size_t size, size_t alignment) {
  (void)user;
  void *memory = NULL;
  if (posix_memalign(&memory, alignment, size))
    return NULL;
  for (size_t i = 0; i < size / 4; ++i)
    ((uint32_t *)memory)[i] = poison;
  return memory;
}

static void release(void *user, void *memory) {
  (void)user;
  free(memory);
}

static void check(mille_status status, const char *message) {
  if (status == MILLE_OK)
    return;
  fprintf(stderr, "%s: %s\n", mille_status_name(status), message);
  exit(1);
}

/* Sequences first .. first + batch - 1. */
static void run(mille_session *session, int first, int batch, int tokens) {
  memset(hidden, 0xff, sizeof hidden);
  memset(logits, 0xff, sizeof logits);
  check(tiny_run(session, batch, tokens, ids + first * tokens,
                 mask + first * tokens, NULL, hidden, logits),
        mille_session_message(session));
  ++runs;
}

static void same(int threads, int first, int batch, int tokens) {
  size_t h = tokens * columns, l = tokens * words;
  if (memcmp(wantedHidden + first * h, hidden, batch * h * sizeof(float)) ==
          0 &&
      memcmp(wantedLogits + first * l, logits, batch * l * sizeof(float)) == 0)
    return;
  fprintf(stderr, "threads %d, batch %d, tokens %d: sequences from %d differ\n",
          threads, batch, tokens, first);
  exit(1);
}

static void checkTokens(int tokens) {
  for (int i = 0; i < most * tokens; ++i) {
    ids[i] = i * 31 % 47;
    /* less and less */
    mask[i] = i % tokens <= tokens - 1 - i / tokens % tokens;
  }
  static const int threads[] = {1, 2, 3, 7, 16};
  for (int t = 0; t < 5; ++t) {
    mille_session *session;
    poison = t % 2 ? 0x7fc00001 : 0xffc12345; /* NaN either way */
    check(mille_session_create(package, most, tokens, threads[t], &session),
          mille_package_message(package));
    for (int first = 0; t == 0 && first < most; ++first) {
      run(session, first, 1, tokens);
      memcpy(wantedHidden + first * tokens * columns, hidden,
             tokens * columns * sizeof(float));
      memcpy(wantedLogits + first * tokens * words, logits,
             tokens * words * sizeof(float));
    }
    for (int batch = 1; batch <= most; ++batch)
      for (int first = 0; first + batch <= most; first += 3) {
        run(session, first, batch, tokens);
        same(threads[t], first, batch, tokens);
      }
    check(mille_session_close(session), "");
  }
}

int main(int argc, char **argv) {
  char message[512];
  mille_options options = MILLE_OPTIONS_INIT;
  options.verify_hash = 1;
  options.allocate = allocate;
  options.release = release;
  options.isa = argc > 2 ? argv[2] : NULL;
  check(mille_package_open(tiny_model(), argc > 1 ? argv[1] : NULL, &options,
                           &package, message, sizeof message),
        message);
  checkTokens(1);
  checkTokens(2);
  checkTokens(5);
  checkTokens(mostTokens);
  check(mille_package_close(package), "");
  printf("%d runs, one answer\n", runs);
  return 0;
}
