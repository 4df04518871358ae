/* An entry with states of a compiled model, as an application uses it: in
 * pieces, ragged, copied, forgotten, saved: states WEIGHTS. With BYTES keys and
 * values are of --cache=int8, with HALVES of --cache=f16. */
#include "HeldTokens.h"
#include "tiny.h"

#include <string.h>

enum { vocabulary = 64, channels = 32, context = 12, all = 9 };
#ifdef HALVES
enum { heldType = MILLE_TYPE_F16, heldColumns = 16, heldBytes = 2 };
#elif defined BYTES
enum { heldType = MILLE_TYPE_I8, heldColumns = 2 * (8 + 4), heldBytes = 1 };
#else
enum { heldType = MILLE_TYPE_F32, heldColumns = 16, heldBytes = 4 };
#endif
/* Of keys, all entries, in a context of whole panels. */
enum { room = 16, stateBytes = 2 * room * heldColumns * heldBytes };
static const int32_t text[all] = {1, 5, 2, 9, 30, 7, 44, 3, 61};

static float hidden[2 * all * channels]; /* nobody looks at it */

typedef struct {
  float of[all][vocabulary];
} Rows;

/* One sequence: `count` tokens from `first` on behind `first` held ones. */
static void feed(mille_session *session, int32_t first, int64_t count,
                 Rows *rows) {
  CHECK(tiny_run_extend(session, 1, count, text + first, NULL, &first, hidden,
                        rows->of[first]) == MILLE_OK);
}

static void checkSame(const Rows *a, const Rows *b, int first, int count) {
  CHECK(memcmp(a->of[first], b->of[first], count * sizeof a->of[0]) == 0);
}

static void lists(mille_package *package) {
  size_t count, entry;
  mille_entry_info info;
  mille_tensor tensor;
  CHECK(mille_package_entry_count(package, &count) == MILLE_OK && count == 2);
  CHECK(mille_package_find_entry(package, "extend", &entry) == MILLE_OK);
  CHECK(mille_package_entry(package, entry, &info) == MILLE_OK);
  CHECK(info.inputs == 3 && info.outputs == 2 && info.states == 3);
  CHECK(mille_package_entry_input(package, entry, 2, &tensor) == MILLE_OK);
  CHECK(strcmp(tensor.name, "past") == 0 && tensor.optional);
  EXPECT(mille_package_find_entry(package, "shrink", &entry),
         MILLE_INVALID_ARGUMENT, mille_package_message(package),
         " has no entry 'shrink'; its second one is extend");
  CHECK(mille_package_state_count(package, &count) == MILLE_OK && count == 3);
  CHECK(mille_package_state(package, 0, &tensor) == MILLE_OK);
  CHECK(strcmp(tensor.name, "keys") == 0 && tensor.type == heldType);
  CHECK(tensor.rank == 4 && tensor.shape[0] == 2);
  CHECK(tensor.shape[3] == heldColumns);
  CHECK(strcmp(tensor.sizes[1], "batch") == 0);
  CHECK(strcmp(tensor.sizes[2], "context") == 0);
  EXPECT(mille_package_state(package, 3, &tensor), MILLE_INVALID_ARGUMENT,
         mille_package_message(package),
         "state 3 is asked for but model tiny has 3");
}

/* In one piece and in others, with one thread and three. */
static void pieces(mille_package *package, Rows *whole) {
  static Rows rows;
  mille_session *one = made(package, context, 1, all, 1);
  mille_session *other = made(package, context, 1, 4, 3);
  feed(one, 0, all, whole);
  for (int round = 0; round < 2; ++round) { /* the second over the first's */
    feed(other, 0, 4, &rows);
    feed(other, 4, 1, &rows);
    feed(other, 5, 4, &rows);
    checkSame(whole, &rows, 0, all);
  }
  /* A smaller past forgets what stood behind it. */
  memset(&rows, 0, sizeof rows);
  feed(other, 3, 4, &rows);
  checkSame(whole, &rows, 3, 4);
  CHECK(mille_session_close(one) == MILLE_OK);
  CHECK(mille_session_close(other) == MILLE_OK);
}

/* Two sequences of one run that stand at different places. */
static void ragged(mille_package *package, const Rows *whole) {
  mille_session *session = made(package, context, 2, 4, 2);
  const int32_t ids[2][4] = {{1, 5, 2, 9}, {1, 5, 0, 0}};
  const int32_t mask[2][4] = {{1, 1, 1, 1}, {1, 1, 0, 0}};
  const int32_t next[2][4] = {{30, 7, 0, 0}, {2, 9, 30, 7}};
  const int32_t nextMask[2][4] = {{1, 1, 0, 0}, {1, 1, 1, 1}};
  const int32_t past[2] = {4, 2};
  static float rows[2][4][vocabulary];
  CHECK(tiny_run_extend(session, 2, 4, ids[0], mask[0], NULL, hidden,
                        rows[0][0]) == MILLE_OK);
  CHECK(memcmp(rows[0], whole->of[0], 4 * sizeof rows[0][0]) == 0);
  CHECK(memcmp(rows[1], whole->of[0], 2 * sizeof rows[0][0]) == 0);
  CHECK(tiny_run_extend(session, 2, 4, next[0], nextMask[0], past, hidden,
                        rows[0][0]) == MILLE_OK);
  CHECK(memcmp(rows[0], whole->of[4], 2 * sizeof rows[0][0]) == 0);
  CHECK(memcmp(rows[1], whole->of[2], 4 * sizeof rows[0][0]) == 0);
  CHECK(mille_session_close(session) == MILLE_OK);
}

/* Sequence 1 goes on from a copy of sequence 0. */
static void copies(mille_package *package, const Rows *whole) {
  mille_session *session = made(package, context, 2, 5, 1);
  static float rows[2][5][vocabulary];
  const int32_t ids[2][5] = {{1, 5, 2, 9, 30}, {8, 8, 8, 8, 8}};
  const int32_t next[2] = {11, 7}, past[2] = {5, 5};
  CHECK(tiny_run_extend(session, 2, 5, ids[0], NULL, NULL, hidden,
                        rows[0][0]) == MILLE_OK);
  CHECK(mille_session_copy_states(session, 0, 1) == MILLE_OK);
  CHECK(tiny_run_extend(session, 2, 1, next, NULL, past, hidden, rows[0][0]) ==
        MILLE_OK);
  CHECK(memcmp(rows[0][1], whole->of[5], sizeof rows[0][0]) == 0);
  CHECK(memcmp(rows[0][0], whole->of[5], sizeof rows[0][0]) != 0);
  EXPECT(mille_session_copy_states(session, 0, 2), MILLE_INVALID_ARGUMENT,
         mille_session_message(session),
         "sequence 2 is asked for but this session was created for 2");
  CHECK(mille_session_close(session) == MILLE_OK);
}

/* Read from one session, written to another; zeros after a reset. */
static void saves(mille_package *package, const Rows *whole) {
  static Rows rows;
  static char memory[3][stateBytes], zeros[stateBytes];
  static const size_t expected[3] = {sizeof zeros, sizeof zeros,
                                     room * sizeof(int32_t)};
  char words[80];
  mille_session *from = made(package, context, 1, 6, 1),
                *to = made(package, context, 1, 3, 1);
  size_t bytes;
  feed(from, 0, 6, &rows);
  for (size_t state = 0; state < 3; ++state) {
    CHECK(mille_session_state_bytes(from, state, &bytes) == MILLE_OK);
    CHECK(bytes == expected[state]);
    CHECK(mille_session_read_state(from, state, 0, memory[state], bytes) ==
          MILLE_OK);
    CHECK(mille_session_write_state(to, state, 0, memory[state], bytes) ==
          MILLE_OK);
  }
  feed(to, 6, 3, &rows);
  checkSame(whole, &rows, 6, 3);
  CHECK(memcmp(memory[0], zeros, sizeof zeros) != 0);
  CHECK(mille_session_reset_states(from) == MILLE_OK);
  CHECK(mille_session_read_state(from, 0, 0, memory[0], sizeof zeros) ==
        MILLE_OK);
  CHECK(memcmp(memory[0], zeros, sizeof zeros) == 0);
  snprintf(words, sizeof words, "bytes is %d but a sequence has %d in keys",
           stateBytes - 4, stateBytes);
  EXPECT(mille_session_read_state(from, 0, 0, memory[0], sizeof zeros - 4),
         MILLE_INVALID_ARGUMENT, mille_session_message(from), words);
  EXPECT(mille_session_state_bytes(from, 3, &bytes), MILLE_INVALID_ARGUMENT,
         mille_session_message(from),
         "state 3 is asked for but model tiny "
         "has 3");
  CHECK(mille_session_close(from) == MILLE_OK);
  CHECK(mille_session_close(to) == MILLE_OK);
}

/* Bytes of a state in pieces, which cross from one entry to the next, are those
 * of the whole. */
static void parts(mille_package *package) {
  enum { all = stateBytes, piece = 600 };
  static Rows rows;
  static char whole[all], cut[all], copied[all];
  char words[80];
  uint64_t hash = 0, again = 1;
  mille_session *from = made(package, context, 1, 6, 1),
                *to = made(package, context, 1, 3, 1);
  feed(from, 0, 6, &rows);
  CHECK(mille_session_read_state(from, 1, 0, whole, all) == MILLE_OK);
  for (size_t at = 0, size; at < all; at += size) {
    size = all - at < piece ? all - at : piece;
    CHECK(mille_session_read_state_part(from, 1, 0, at, cut + at, size) ==
          MILLE_OK);
    CHECK(mille_session_write_state_part(to, 1, 0, at, cut + at, size) ==
          MILLE_OK);
  }
  CHECK(memcmp(whole, cut, all) == 0);
  CHECK(mille_session_read_state(to, 1, 0, copied, all) == MILLE_OK);
  CHECK(memcmp(whole, copied, all) == 0);
  snprintf(words, sizeof words, "bytes is %d but a sequence has %d in values",
           all + 4, all);
  EXPECT(mille_session_read_state_part(from, 1, 0, all - 4, cut, 8),
         MILLE_INVALID_ARGUMENT, mille_session_message(from), words);
  snprintf(words, sizeof words, "bytes is %d but a sequence has %d in values",
           all + 1, all);
  EXPECT(mille_session_write_state_part(from, 1, 0, all + 1, cut, 0),
         MILLE_INVALID_ARGUMENT, mille_session_message(from), words);
  CHECK(mille_session_close(from) == MILLE_OK);
  CHECK(mille_session_close(to) == MILLE_OK);
  CHECK(mille_package_hash(package, &hash) == MILLE_OK);
  CHECK(mille_package_hash(package, &again) == MILLE_OK && hash == again);
  CHECK(mille_package_hash(package, NULL) == MILLE_INVALID_ARGUMENT);
  printf("hash %llx\n", (unsigned long long)hash);
}

static void refusals(mille_package *package) {
  static Rows rows;
  mille_session *session = made(package, context, 1, 6, 1);
  int32_t past = 7;
  EXPECT(tiny_run_extend(session, 1, 6, text, NULL, &past, hidden, rows.of[0]),
         MILLE_TOO_LARGE, mille_session_message(session),
         "sequence 0 has 7 tokens and 6 new ones but this session was created "
         "for 12");
  past = -1;
  EXPECT(tiny_run_extend(session, 1, 6, text, NULL, &past, hidden, rows.of[0]),
         MILLE_INVALID_INPUT, mille_session_message(session),
         "past[0] is -1 but must be at least 0");
  CHECK(mille_session_close(session) == MILLE_OK);

  /* Without a context only forward runs. */
  const mille_size most[] = {{"batch", 1}, {"tokens", all}};
  CHECK(mille_session_create_for(package, most, 2, 1, &session) == MILLE_OK);
  past = 0;
  EXPECT(
      tiny_run_extend(session, 1, all, text, NULL, &past, hidden, rows.of[0]),
      MILLE_TOO_LARGE, mille_session_message(session),
      "entry extend has context but this session was created without it");
  size_t bytes;
  EXPECT(mille_session_state_bytes(session, 0, &bytes), MILLE_INVALID_ARGUMENT,
         mille_session_message(session),
         "this session was created without the sizes of state keys");
  CHECK(mille_session_close(session) == MILLE_OK);
}

int main(int count, char **arguments) {
  mille_package *package;
  char why[512];
  static Rows whole;
  CHECK(count == 2);
  EXPECT(mille_package_open(tiny_model(), arguments[1], NULL, &package, why,
                            sizeof why),
         MILLE_OK, why, "");
  lists(package);
  pieces(package, &whole);
  ragged(package, &whole);
  copies(package, &whole);
  saves(package, &whole);
  parts(package);
  refusals(package);
  CHECK(mille_package_close(package) == MILLE_OK);
  puts("states kept, copied, forgotten, saved");
  return 0;
}
