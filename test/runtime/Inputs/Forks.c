/* Sequences that hold rows in common, through the C API: forks WEIGHTS. What is
 * copied, appended, rewound and copied again at random has the bits of
 * sequences that hold their own rows. COLUMNS: the channels of the model. */
#include "HeldTokens.h"
#include "tiny.h"

#include <string.h>

enum {
  vocabulary = 64,
  sequences = 4,
  context = 800, /* four runs of rows, the last not whole */
  piece = 200,
  rounds = 60
};
#ifndef COLUMNS
#define COLUMNS 32
#endif

static float hidden[sequences * piece * COLUMNS];
static float logits[2][sequences][piece][vocabulary];
static uint32_t seed = 1;

static int drawn(int below) {
  seed = seed * 1664525 + 1013904223;
  return (int)((seed >> 8) % (uint32_t)below);
}

static size_t memoryOf(mille_session *session) {
  size_t bytes = 0;
  CHECK(mille_session_memory(session, &bytes) == MILLE_OK);
  return bytes;
}

/* Moves all that a sequence remembers to another session's, by its bytes. */
static void moveStates(mille_package *package, mille_session *from, int64_t of,
                       mille_session *to, int64_t into) {
  size_t count, bytes;
  CHECK(mille_package_state_count(package, &count) == MILLE_OK);
  for (size_t state = 0; state < count; ++state) {
    CHECK(mille_session_state_bytes(from, state, &bytes) == MILLE_OK);
    char *memory = malloc(bytes);
    /* In parts that begin and end anywhere. */
    for (size_t at = 0, size; at < bytes; at += size) {
      size = 4096 + (size_t)drawn(40000);
      size = size < bytes - at ? size : bytes - at;
      CHECK(mille_session_read_state_part(from, state, of, at, memory + at,
                                          size) == MILLE_OK);
    }
    CHECK(mille_session_write_state(to, state, into, memory, bytes) ==
          MILLE_OK);
    free(memory);
  }
}

/* One run of all sequences, of `counts` tokens each, behind `past`. */
static void extend(mille_session *session, const int32_t *ids,
                   const int32_t *counts, const int32_t *past,
                   float (*own)[piece][vocabulary]) {
  static int32_t all[sequences][piece], mask[sequences][piece];
  int32_t most = 1;
  for (int s = 0; s < sequences; ++s)
    most = counts[s] > most ? counts[s] : most;
  int32_t *flat = all[0], *shown = mask[0];
  for (int s = 0; s < sequences; ++s)
    for (int t = 0; t < most; ++t) {
      flat[s * most + t] = t < counts[s] ? ids[s * piece + t] : 0;
      shown[s * most + t] = t < counts[s];
    }
  EXPECT(tiny_run_extend(session, sequences, most, flat, shown, past, hidden,
                         own[0][0]),
         MILLE_OK, mille_session_message(session), "");
  /* Rows of a sequence where `own` has its own. */
  for (int s = sequences; s-- > 0;)
    memmove(own[s], own[0][0] + (size_t)s * most * vocabulary,
            (size_t)most * sizeof own[0][0]);
}

int main(int count, char **arguments) {
  mille_package *package;
  char why[512];
  CHECK(count == 2);
  EXPECT(mille_package_open(tiny_model(), arguments[1], NULL, &package, why,
                            sizeof why),
         MILLE_OK, why, "");
  mille_session *shared = made(package, context, sequences, piece, 3),
                *apart = made(package, context, sequences, piece, 1);
  const size_t bytes = memoryOf(shared);
  int32_t held[sequences] = {0};
  for (int round = 0; round < rounds; ++round) {
    /* Some sequences become copies of others; some are rewound, or begin. */
    for (int fork = drawn(4); fork > 0; --fork) {
      const int from = drawn(sequences), to = drawn(sequences);
      CHECK(mille_session_copy_states(shared, from, to) == MILLE_OK);
      if (from != to)
        moveStates(package, apart, from, apart, to);
      held[to] = held[from];
    }
    const int back = drawn(sequences), far = drawn(8);
    int64_t least;
    CHECK(mille_session_least_past(shared, back, &least) == MILLE_OK);
    if (far < 3 && held[back]) {
      const int32_t to = far ? drawn(held[back] + 1) : 0;
      held[back] = to && to < least ? held[back] : to;
    }
    static int32_t ids[sequences][piece];
    int32_t counts[sequences];
    const int most = round % 3 ? 3 : piece;
    for (int s = 0; s < sequences; ++s) {
      counts[s] = 1 + drawn(most);
      if (held[s] + counts[s] > context)
        held[s] = 0;
      for (int t = 0; t < counts[s]; ++t)
        ids[s][t] = 2 + drawn(vocabulary - 2);
    }
    extend(shared, ids[0], counts, held, logits[0]);
    extend(apart, ids[0], counts, held, logits[1]);
    for (int s = 0; s < sequences; ++s) {
      CHECK(memcmp(logits[0][s], logits[1][s],
                   (size_t)counts[s] * sizeof logits[0][s][0]) == 0);
      held[s] += counts[s];
    }
    if (round % 8 == 7) { /* a saved sequence opened over a copy of another */
      const int from = drawn(sequences), to = (from + 1) % sequences;
      CHECK(mille_session_copy_states(shared, (to + 1) % sequences, to) ==
            MILLE_OK);
      moveStates(package, shared, from, shared, to);
      moveStates(package, shared, from, apart, to);
      held[to] = held[from];
    }
  }
  CHECK(memoryOf(shared) == bytes);
  CHECK(mille_session_close(shared) == MILLE_OK);
  CHECK(mille_session_close(apart) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  puts("forks: the bits of sequences that hold their own rows");
  return 0;
}
