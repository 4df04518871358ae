/* Runs with padding removed beside runs that compute it: the same bits in every
 * other row and in what is made of them, 0 in rows of padding.
 * argv[1]: where a weights file may be written. */
#include "FakeModel.h"

#include <string.h>

enum { batch = 5, tokens = 23, rows = batch * tokens, n = 3 };
static int32_t ids[rows], mask[rows], positions[rows];
/* First token that counts, and the one after the last. */
static int32_t ends[batch][2];
static const int32_t shapes[][batch][2] = {
    {{0, 23}, {0, 11}, {0, 1}, {0, 22}, {0, 7}},      /* padding after */
    {{0, 23}, {12, 23}, {22, 23}, {1, 23}, {16, 23}}, /* before */
    {{3, 20}, {0, 23}, {11, 12}, {0, 9}, {14, 23}},   /* both */
    /* two are hidden throughout */
    {{1, 23}, {0, 0}, {5, 8}, {0, 23}, {0, 0}}};

static int isPadding(int row) {
  int s = row / tokens, t = row % tokens;
  return ends[s][0] < ends[s][1] && (t < ends[s][0] || t >= ends[s][1]);
}

static int64_t setMask(int shape) {
  int64_t kept = 0;
  memcpy(ends, shapes[shape], sizeof ends);
  for (int m = 0; m < rows; ++m) {
    int s = m / tokens, t = m % tokens;
    /* A hole among the tokens is no padding. */
    mask[m] = t >= ends[s][0] && t < ends[s][1] &&
              !(t == ends[s][0] + 2 && t + 1 < ends[s][1]);
    kept += !isPadding(m);
  }
  return kept;
}

static void compareRows(const float *whole, const float *got, int columns) {
  for (int m = 0; m < rows; ++m)
    for (int c = 0; c < columns; ++c)
      CHECK(got[m * columns + c] ==
            (isPadding(m) ? 0 : whole[m * columns + c]));
}

/* ---- Embedding, matmul, attention, mean ---- */

static void runModel(const char *path, int threads) {
  static float hidden[2][rows * fakeHidden], pooled[2][batch * fakeHidden];
  fake_write_weights(path);
  mille_package *package;
  char message[512];
  EXPECT(mille_package_open(fake_padded_model(), path, NULL, &package, message,
                            sizeof message),
         MILLE_OK, message, "");
  mille_session *session;
  CHECK(mille_session_create(package, batch, tokens, threads, &session) ==
        MILLE_OK);
  for (int m = 0; m < rows; ++m)
    ids[m] = (m * 13) % fakeVocabulary;
  for (int shape = 0; shape < 4; ++shape) {
    setMask(shape);
    const void *given[4] = {ids, mask, NULL, NULL};
    for (int removed = 0; removed < 2; ++removed) {
      float *outputs[2] = {hidden[removed], pooled[removed]};
      memset(hidden[removed], 0xff, sizeof hidden[0]);
      CHECK(mille_session_keep_padding(session, !removed) == MILLE_OK);
      CHECK(mille_session_run(session, batch, tokens, given, outputs) ==
            MILLE_OK);
    }
    compareRows(hidden[0], hidden[1], fakeHidden);
    CHECK(memcmp(pooled[0], pooled[1], sizeof pooled[0]) == 0);
  }
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
}

/* ---- What is prepared: a position, factors, angles, a pooled token ---- */

static const double frequencies[n] = {1, 0.1, 0.01};
static const double lengths[5] = {8, 2, 0.5, 16, 1};
static int64_t rowsSeen;

static int32_t prepare(mille_run *run) {
  int64_t own = run->token_rows;
  const int32_t *numbers = run->inputs[0], *seen = run->inputs[1],
                *places = run->inputs[2];
  static int32_t counted[rows], last[batch];
  static float copied[rows];
  rowsSeen = own;
  mille_count_tokens(run, numbers, own, MILLE_RUN_TOKENS, 1, 4, 1, 1, NULL, 0,
                     counted);
  for (int m = 0; m < own; ++m)
    copied[m] = (float)counted[m];
  mille_keep(run, copied, 1, own, 1, 0, 1);
  mille_count_tokens(run, seen, own, MILLE_RUN_TOKENS, 0, 0, 0, 3, NULL, 0,
                     counted);
  for (int m = 0; m < own; ++m)
    copied[m] = (float)counted[m];
  mille_keep(run, copied, 1, own, 1, 0, 0);
  mille_query_scale(run, MILLE_LOG_KEYS, lengths, NULL, seen, own,
                    MILLE_RUN_TOKENS, 1, 4, 0, NULL, 0, run->outputs[1]);
  mille_query_scale(run, MILLE_LOG_POSITION, lengths, NULL, NULL, own,
                    MILLE_RUN_TOKENS, 0, 0, 0, NULL, 0, run->outputs[2]);
  mille_query_scale(run, MILLE_LOG_FLOOR, lengths, places, NULL, own,
                    MILLE_RUN_TOKENS, 0, 0, 0, NULL, 0, run->outputs[3]);
  /* The largest position may be padding's. */
  mille_rotation(run, places, own, frequencies, n, 1, 10, 2, NULL,
                 run->outputs[4], 2 * n);
  int32_t code = mille_pool_index(run, seen, MILLE_RUN_TOKENS, MILLE_POOL_LAST,
                                  0, 0, last);
  for (int b = 0; b < batch; ++b)
    run->outputs[5][b] = (float)numbers[last[b]];
  for (int m = 0; m < own; ++m)
    copied[m] = (float)(numbers[m] + places[m]);
  return code ? code
              : mille_pool_mean(run, copied, 1, seen, MILLE_RUN_TOKENS, 3, 1,
                                run->outputs[6], 1);
}

static const mille_isa isa = {"any", 0};
static const mille_tensor_info inputs[3] = {
    {"ids", MILLE_I32, 2, {-1, -2}, MILLE_REQUIRED, 0, 0},
    {"mask", MILLE_I32, 2, {-1, -2}, MILLE_DEFAULT_ONES, 0, 0},
    {"positions", MILLE_I32, 2, {-1, -2}, MILLE_DEFAULT_POSITIONS, 0, 0}};
static const mille_tensor_info outputs[7] = {
    {"counted", MILLE_F32, 4, {2, -1, -2, 1}, 0, 0, 0},
    {"by keys", MILLE_F32, 2, {-1, -2}, 0, 0, 0},
    {"by token", MILLE_F32, 2, {-1, -2}, 0, 0, 0},
    {"by position", MILLE_F32, 2, {-1, -2}, 0, 0, 0},
    {"rotation", MILLE_F32, 3, {-1, -2, 2 * n}, 0, 0, 0},
    {"last", MILLE_F32, 1, {-1}, 0, 0, 0},
    {"mean", MILLE_F32, 1, {-1}, 0, 0, 0}};

static void runPrepared(int threads, uint32_t removable) {
  static char weights[128];
  static float results[2][7][2 * rows * n];
  mille_weights_header header = {
      {0}, MILLE_WEIGHTS_VERSION, 0, sizeof weights, 0, 120, 0, 128, "padding"};
  memcpy(header.magic, MILLE_WEIGHTS_MAGIC, 8);
  memcpy(weights, &header, sizeof header);
  const mille_entry entry = {.name = "forward",
                             .forward = prepare,
                             .input_count = 3,
                             .output_count = 7,
                             .inputs = inputs,
                             .outputs = outputs,
                             .arena_bytes_per_row = 64,
                             .padding_ends = removable,
                             .mask_input = 1};
  mille_model model = {.abi_version = MILLE_ABI_VERSION,
                       .isa_count = 1,
                       .entry_count = 1,
                       .size_count = 2,
                       .kernel_count = 0,
                       .name = "padding",
                       .isas = &isa,
                       .entries = &entry,
                       .sizes = fakeSizes,
                       .kernels = NULL,
                       .token_size = 1,
                       .weights_bytes = sizeof weights,
                       .weights = weights};
  model.table_hash = fake_table_hash(weights);
  mille_package *package;
  char message[512];
  EXPECT(
      mille_package_open(&model, NULL, NULL, &package, message, sizeof message),
      MILLE_OK, message, "");
  mille_session *session;
  CHECK(mille_session_create(package, batch, tokens, threads, &session) ==
        MILLE_OK);
  for (int shape = 0; shape < 4; ++shape) {
    int64_t left = setMask(shape);
    for (int s = 0; s < batch; ++s) {
      if (ends[s][0] == ends[s][1])
        continue;
      if (!(removable & MILLE_PADDING_BEFORE)) {
        left += ends[s][0];
        ends[s][0] = 0;
      }
      if (!(removable & MILLE_PADDING_AFTER)) {
        left += tokens - ends[s][1];
        ends[s][1] = tokens;
      }
    }
    for (int m = 0; m < rows; ++m) {
      ids[m] = (m * 7) % 11;
      positions[m] = m % tokens + (m % tokens == 22 ? 40 : 0);
    }
    const void *given[3] = {ids, mask, shape % 2 ? positions : NULL};
    for (int removed = 0; removed < 2; ++removed) {
      float *into[7];
      memset(results[removed], 0xff, sizeof results[0]);
      for (int i = 0; i < 7; ++i)
        into[i] = results[removed][i];
      CHECK(mille_session_keep_padding(session, !removed) == MILLE_OK);
      CHECK(mille_session_run(session, batch, tokens, given, into) == MILLE_OK);
      CHECK(rowsSeen == (removed ? left : rows));
    }
    for (int entry = 0; entry < 2; ++entry)
      compareRows(results[0][0] + entry * rows, results[1][0] + entry * rows,
                  1);
    for (int i = 1; i < 4; ++i)
      compareRows(results[0][i], results[1][i], 1);
    compareRows(results[0][4], results[1][4], 2 * n);
    for (int i = 5; i < 7; ++i)
      CHECK(memcmp(results[0][i], results[1][i], batch * sizeof(float)) == 0);
  }
  /* Nothing is removed where no mask is given. */
  const void *given[3] = {ids, NULL, NULL};
  float *into[7];
  for (int i = 0; i < 7; ++i)
    into[i] = results[0][i];
  CHECK(mille_session_run(session, batch, tokens, given, into) == MILLE_OK);
  CHECK(rowsSeen == rows);
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
}

int main(int argc, char **argv) {
  CHECK(argc > 1);
  /* With 13 threads there are blocks of queries that short sequences lack. */
  for (int threads = 1; threads <= 13; threads += 4) {
    runModel(argv[1], threads);
    for (uint32_t removable = 1; removable <= 3; ++removable)
      runPrepared(threads, removable);
  }
  CHECK(mille_session_keep_padding(NULL, 1) == MILLE_INVALID_ARGUMENT);
  return 0;
}
