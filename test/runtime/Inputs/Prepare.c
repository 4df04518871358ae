/* Prepared inputs, one by one, through a forward that calls nothing else. */
#include "FakeModel.h"

#include <math.h>
#include <string.h>

enum { batch = 3, tokens = 37, rows = batch * tokens, n = 6, columns = 70 };

static int32_t mask[rows], positions[rows], step = 250;
static float bias[rows], turned[rows][2 * n + 4], scheduled[3];
static float input[rows][columns + 2], means[batch][columns];
static float plainMeans[batch][columns];
static int32_t firsts[batch], lasts[batch], plainLasts[batch];
static float kept[2][rows][columns];
static const double frequencies[n] = {1, 0.5, 0.1, 0.01, 1e-3, 1e-4};

static int32_t forward(mille_run *run) {
  mille_key_bias(run, run->inputs[0], rows, bias);
  mille_rotation(run, run->inputs[1], rows, frequencies, n, 1.25, turned[0],
                 2 * n + 4);
  mille_schedule(run, run->inputs[2], 1, 3, 1000, &scheduled[0]);
  mille_schedule(run, run->inputs[2], 1, 3, 100, &scheduled[1]);
  mille_schedule(run, run->inputs[2], 1, 3, 0, &scheduled[2]);
  mille_pool_index(run, run->inputs[0], tokens, 0, firsts);
  mille_pool_index(run, run->inputs[0], tokens, 1, lasts);
  mille_pool_index(run, NULL, tokens, 1, plainLasts);
  mille_pool_mean(run, input[0], columns + 2, run->inputs[0], tokens, columns,
                  means[0], columns);
  mille_pool_mean(run, input[0], columns + 2, NULL, tokens, columns,
                  plainMeans[0], columns);
  for (int64_t i = 0; i < 2; ++i)
    mille_keep(run, input[0], columns + 2, columns, 0, 1 - i);
  return 0;
}

static const mille_isa isa = {"any", 0};
static const mille_tensor_info infos[3] = {
    {"mask", MILLE_I32, 2, {-1, -2}, MILLE_DEFAULT_ONES, 0, 0},
    {"positions", MILLE_I32, 2, {-1, -2}, MILLE_DEFAULT_POSITIONS, 0, 0},
    {"step", MILLE_I32, 1, {1}, MILLE_DEFAULT_LAST, 0, 0}};
static const mille_tensor_info keptInfo = {
    "kept", MILLE_F32, 4, {2, -1, -2, columns}, 0, 0, 0};

static void checkRun(void) {
  for (int m = 0; m < rows; ++m) {
    CHECK(bias[m] == (mask[m] ? 0.0f : -1e30f));
    for (int i = 0; i < n; ++i) {
      double angle = positions[m] * frequencies[i];
      CHECK(turned[m][i] == (float)(1.25 * cos(angle)));
      CHECK(turned[m][n + i] == (float)(1.25 * sin(angle)));
    }
    for (int i = 2 * n; i < 2 * n + 4; ++i)
      CHECK(turned[m][i] == 0); /* the stride's rest */
    for (int c = 0; c < columns; ++c)
      CHECK(kept[0][m][c] == input[m][c] && kept[1][m][c] == input[m][c]);
  }
  CHECK(scheduled[0] == 1.5f && scheduled[1] == 3 && scheduled[2] == 3);
  for (int b = 0; b < batch; ++b) {
    int last = 0, count = 0;
    for (int t = 0; t < tokens; ++t)
      if (mask[b * tokens + t]) {
        last = t;
        ++count;
      }
    CHECK(firsts[b] == b * tokens && lasts[b] == b * tokens + last);
    CHECK(plainLasts[b] == b * tokens + tokens - 1);
    for (int c = 0; c < columns; ++c) {
      double sum = 0, whole = 0;
      for (int t = 0; t < tokens; ++t) {
        whole += input[b * tokens + t][c];
        if (mask[b * tokens + t])
          sum += input[b * tokens + t][c];
      }
      CHECK(means[b][c] == (count ? (float)(sum / count) : 0));
      CHECK(plainMeans[b][c] == (float)(whole / tokens));
    }
  }
}

int main(void) {
  static char weights[128];
  mille_weights_header header = {{0}, MILLE_WEIGHTS_VERSION, 0, sizeof weights, 0,
                                 120, 0, 128, "prepare"};
  memcpy(header.magic, MILLE_WEIGHTS_MAGIC, 8);
  memcpy(weights, &header, sizeof header);
  mille_model model = {MILLE_ABI_VERSION, 1, 3, 1, 0, 0, "prepare", &isa, infos,
                       &keptInfo, NULL, 64, 0, 0, sizeof weights, 0, weights,
                       forward};
  mille_package *package;
  char message[512];
  mille_status status =
      mille_package_open(&model, NULL, NULL, &package, message, sizeof message);
  EXPECT(status, MILLE_OK, message, "");
  for (int m = 0; m < rows; ++m)
    for (int c = 0; c < columns + 2; ++c)
      input[m][c] = (float)((m * 7 + c * 3) % 19) / 3;
  float *outputs[1] = {kept[0][0]};
  for (int threads = 1; threads <= 3; ++threads) {
    mille_session *session;
    CHECK(mille_session_create(package, batch, tokens, threads, &session) ==
          MILLE_OK);
    for (int m = 0; m < rows; ++m) {
      mask[m] = m / tokens == 2 ? 0 : m % tokens < 20 && m % 3 != 0;
      positions[m] = m % 5 == 0 ? m : m % tokens;
    }
    const void *given[3] = {mask, positions, &step};
    memset(kept, 0xff, sizeof kept);
    CHECK(mille_session_run(session, batch, tokens, given, outputs) == MILLE_OK);
    checkRun();
    /* The defaults: all ones, 0 to tokens - 1, the schedule's end. */
    given[0] = given[1] = given[2] = NULL;
    CHECK(mille_session_run(session, batch, tokens, given, outputs) == MILLE_OK);
    for (int m = 0; m < rows; ++m) {
      mask[m] = 1;
      positions[m] = m % tokens;
    }
    CHECK(scheduled[0] == 3);
    scheduled[0] = 1.5f;
    checkRun();
    CHECK(mille_session_close(session) == MILLE_OK);
  }
  CHECK(mille_package_close(package) == MILLE_OK);
  return 0;
}
