/* A runtime of two entries whose logits tell all ids of a sequence from any
 * others, or are what the test says; and checks for tests.
 * Must not know the generation room. */
#include "generation/mille_generation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(truth)                                                           \
  do {                                                                         \
    if (!(truth)) {                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #truth);      \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/* The call has this status, and the message of `generation` holds `text`. */
#define EXPECT(call, expected, generation, text)                               \
  do {                                                                         \
    mille_status got = (call);                                                 \
    const char *said = mille_generation_message(generation);                   \
    if (got != (expected) || !strstr(said, text)) {                            \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__,                   \
              mille_status_name(got), said);                                   \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

enum { fakeVocabulary = 16, fakeSources = 100 };

/* What the model is. */
struct mille_package {
  int next, extend; /* whether it has these entries */
  int sums;         /* it remembers a sum in place of ids */
  int wants;        /* entries want one more input */
  int64_t vocabulary;
  uint64_t hash;
  const float *logits;       /* of every token; null: a hash of all ids */
  mille_status fails;        /* of the next run */
  mille_generation *cancels; /* in the next run, as another thread may */
  int64_t runs, rows;        /* there were, without padding */
  int source;                /* an encoder of ids stands before it */
  int64_t least; /* past but 0 that a run takes; 0: any, and nobody asks */
};

enum { fakeSessionBytes = 1 << 20 };
extern const mille_generation_runtime fakeRuntime;
