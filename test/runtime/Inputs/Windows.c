/* Layers with windows of 4 tokens, which drop the rows that no query sees any
 * longer: the bits of a session whose states hold all rows, in pieces, forked,
 * saved, ragged, rewound; and what is refused: windows WEIGHTS. */
#include "HeldTokens.h"
#include "tiny.h"

#include <string.h>

enum { vocabulary = 64, all = 1500, context = 1504, piece = 64, reach = 4 };
/* Rows of a window: its keys, a stretch, spare ones, a piece. */
enum { rows = (reach + 512 + 64 + piece + 15) / 16 * 16 };

static int32_t text[all];
static float logits[all][vocabulary]; /* of a session that holds all rows */
static float hidden[2 * all * COLUMNS];

static mille_status run(mille_session *session, int32_t past, int64_t count,
                        const int32_t *mask, float *own) {
  return tiny_run_extend(session, 1, count, text + past, mask, &past, hidden,
                         own);
}

/* Pieces of these tokens until `end`: the same logits. */
static void feed(mille_session *session, int32_t past, int32_t end,
                 int32_t tokens) {
  static float own[piece][vocabulary];
  for (int32_t count; past < end; past += count) {
    count = end - past < tokens ? end - past : tokens;
    CHECK(run(session, past, count, NULL, own[0]) == MILLE_OK);
    CHECK(memcmp(own, logits[past], count * sizeof own[0]) == 0);
  }
}

static int64_t least(mille_session *session, int64_t sequence) {
  int64_t past = -1;
  CHECK(mille_session_least_past(session, sequence, &past) == MILLE_OK);
  return past;
}

/* A state's bytes: fewer where layers have windows. */
static size_t bytesOf(mille_session *session, size_t state) {
  size_t bytes = 0;
  CHECK(mille_session_state_bytes(session, state, &bytes) == MILLE_OK);
  return bytes;
}

static void pieces(mille_package *package, int threads) {
  mille_session *session = made(package, context, 1, piece, threads);
  size_t small, large;
  mille_session *whole = made(package, context, 1, all, threads);
  CHECK(least(session, 0) == 1);
  CHECK(bytesOf(session, 0) - sizeof(int32_t) ==
        (bytesOf(whole, 0) / ENTRIES / context) *
            (WINDOWS * rows + (ENTRIES - WINDOWS) * context));
  CHECK(mille_session_memory(session, &small) == MILLE_OK);
  CHECK(mille_session_memory(whole, &large) == MILLE_OK && small < large);
  feed(session, 0, 700, piece);
  feed(session, 700, 720, 1);
  feed(session, 720, all, 47);
  /* Back to the least, and anew. */
  const int64_t back = least(session, 0);
  CHECK(back > 1 && back <= all - 64);
  feed(session, (int32_t)back, all, 31);
  char words[160];
  snprintf(words, sizeof words,
           "past[0] is %d but layers with windows hold this sequence from "
           "token %d on: it must be 0 or at least %d",
           (int)back - 1, (int)back - reach, (int)back);
  EXPECT(run(session, (int32_t)back - 1, 1, NULL, hidden), MILLE_INVALID_INPUT,
         mille_session_message(session), words);
  feed(session, 0, 80, piece);
  CHECK(least(session, 0) == 1);
  snprintf(words, sizeof words,
           "past[0] is 1000 but layers with windows hold %d tokens of this "
           "sequence from token 0 on",
           rows);
  EXPECT(run(session, 1000, 1, NULL, hidden), MILLE_INVALID_INPUT,
         mille_session_message(session), words);
  feed(session, 80, all, piece);
  CHECK(mille_session_reset_states(session) == MILLE_OK);
  CHECK(least(session, 0) == 1);
  EXPECT(mille_session_least_past(session, 1, &(int64_t){0}),
         MILLE_INVALID_ARGUMENT, mille_session_message(session),
         "sequence 1 is asked for but this session was created for 1");
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_session_close(whole) == MILLE_OK);
}

/* Two sequences, one of 1000 tokens and one of 30; then the second goes on from
 * a copy of the first. */
static void together(mille_package *package) {
  mille_session *session = made(package, context, 2, piece, 2);
  static float own[2][piece][vocabulary];
  int32_t ids[2][piece], mask[2][piece], past[2] = {0, 0};
  while (past[0] < 1000) {
    const int32_t counts[2] = {past[0] == 960 ? 40 : piece,
                               past[0] == 0 ? 30 : 1};
    memset(mask, 0, sizeof mask);
    memset(ids, 0, sizeof ids);
    for (int s = 0; s < 2; ++s)
      for (int t = 0; t < counts[s]; ++t) {
        ids[s][t] = text[past[s] + t];
        mask[s][t] = 1;
      }
    EXPECT(tiny_run_extend(session, 2, piece, ids[0], mask[0], past, hidden,
                           own[0][0]),
           MILLE_OK, mille_session_message(session), "");
    for (int s = 0; s < 2; ++s) {
      CHECK(memcmp(own[s], logits[past[s]], counts[s] * sizeof own[0][0]) == 0);
      past[s] += counts[s];
    }
  }
  CHECK(least(session, 0) > 1 && least(session, 1) == 1);
  CHECK(mille_session_copy_states(session, 0, 1) == MILLE_OK);
  CHECK(least(session, 0) == least(session, 1));
  for (past[1] = 1000; past[0] < 1200; past[0] += 40, past[1] += 40) {
    for (int s = 0; s < 2; ++s)
      memcpy(ids[0] + s * 40, text + past[s], 40 * sizeof ids[0][0]);
    CHECK(tiny_run_extend(session, 2, 40, ids[0], NULL, past, hidden,
                          own[0][0]) == MILLE_OK);
    for (int s = 0; s < 2; ++s)
      CHECK(memcmp(own[0][s * 40], logits[past[s]], 40 * sizeof own[0][0]) ==
            0);
  }
  CHECK(mille_session_close(session) == MILLE_OK);
}

/* Saved and opened, whole and in parts; then with a row that none begins
 * with. */
static void saves(mille_package *package) {
  mille_session *from = made(package, context, 1, piece, 1),
                *to = made(package, context, 1, piece, 1);
  feed(from, 0, 1100, piece);
  for (size_t state = 0; state < 3; ++state) {
    const size_t bytes = bytesOf(from, state), part = 1000;
    char *memory = malloc(bytes), *again = malloc(bytes);
    CHECK(mille_session_read_state(from, state, 0, memory, bytes) == MILLE_OK);
    for (size_t at = 0, size; at < bytes; at += size) {
      size = bytes - at < part ? bytes - at : part;
      CHECK(mille_session_write_state_part(to, state, 0, at, memory + at,
                                           size) == MILLE_OK);
      CHECK(mille_session_read_state_part(to, state, 0, at, again + at, size) ==
            MILLE_OK);
    }
    CHECK(memcmp(memory, again, bytes) == 0);
    free(memory);
    free(again);
  }
  CHECK(least(from, 0) == least(to, 0));
  feed(to, 1100, 1400, 50);
  const int32_t wrong[] = {1001, -16};
  for (int i = 0; i < 2; ++i) {
    CHECK(mille_session_write_state_part(
              to, 0, 0, bytesOf(to, 0) - sizeof wrong[i], &wrong[i],
              sizeof wrong[i]) == MILLE_OK);
    EXPECT(run(to, 1400, 1, NULL, hidden), MILLE_INVALID_INPUT,
           mille_session_message(to),
           "past[0] is 1400 but layers with windows");
  }
  feed(to, 0, 100, piece);
  CHECK(mille_session_close(from) == MILLE_OK);
  CHECK(mille_session_close(to) == MILLE_OK);
}

/* Tokens that the mask hides first: stretches are counted from the first that
 * it shows. Later it hides those with which a window begins, 544. */
static void padded(mille_package *package) {
  static float expected[all][vocabulary], own[piece][vocabulary];
  static int32_t mask[all];
  mille_session *whole = made(package, context, 1, all, 1),
                *session = made(package, context, 1, piece, 1);
  for (int t = 0; t < all; ++t)
    mask[t] = t >= 37 && t % 300 != 299 && (t < 540 || t >= 580);
  CHECK(run(whole, 0, all, mask, expected[0]) == MILLE_OK);
  for (int32_t past = 0; past < all; past += 60) {
    CHECK(tiny_run_extend(session, 1, 60, text + past, mask + past, &past,
                          hidden, own[0]) == MILLE_OK);
    for (int t = 0; t < 60; ++t)
      CHECK(!mask[past + t] ||
            memcmp(own[t], expected[past + t], sizeof own[t]) == 0);
  }
  CHECK(least(session, 0) > 1);
  CHECK(mille_session_close(whole) == MILLE_OK);
  CHECK(mille_session_close(session) == MILLE_OK);
}

int main(int count, char **arguments) {
  mille_package *package;
  char why[512];
  CHECK(count == 2);
  EXPECT(mille_package_open(tiny_model(), arguments[1], NULL, &package, why,
                            sizeof why),
         MILLE_OK, why, "");
  for (int t = 0; t < all; ++t)
    text[t] = (int32_t)((t * 2654435761u) >> 20) % (vocabulary - 2) + 2;
  mille_session *whole = made(package, context, 1, all, 1);
  CHECK(run(whole, 0, all, NULL, logits[0]) == MILLE_OK);
  CHECK(least(whole, 0) == 1);
  CHECK(mille_session_close(whole) == MILLE_OK);
  pieces(package, 1);
  pieces(package, 3);
  together(package);
  saves(package);
  padded(package);
  CHECK(mille_package_close(package) == MILLE_OK);
  puts("windows: the bits of all rows");
  return 0;
}
