/* Prepared inputs, one by one, through a forward that calls nothing else. */
#include "FakeModel.h"

#include <math.h>
#include <string.h>

enum { batch = 3, tokens = 37, rows = batch * tokens, n = 6, columns = 70 };

static int32_t mask[rows], positions[rows], step = 250;
static float turned[rows][2 * n + 4], scheduled[2];
static float input[rows][columns + 2], means[batch][columns];
static float plainMeans[batch][columns];
static int32_t firsts[batch], lasts[batch], plainLasts[batch];
static float kept[2][rows][columns];
static const double frequencies[n] = {1, 0.5, 0.1, 0.01, 1e-3, 1e-4};

static void prepareOnce(mille_run *run);
static int32_t skip;

static int32_t forward(mille_run *run) {
  if (skip)
    return mille_pool_index(run, NULL, tokens, MILLE_POOL_FIRST, skip, 0,
                            lasts);
  mille_rotation(run, run->inputs[1], rows, frequencies, n, 1.25, 0, 1, NULL,
                 turned[0], 2 * n + 4);
  mille_schedule(run, 0, run->inputs[2], &scheduled[0]);
  mille_schedule(run, 1, run->inputs[2], &scheduled[1]);
  mille_pool_index(run, run->inputs[0], tokens, 0, 0, 0, firsts);
  mille_pool_index(run, run->inputs[0], tokens, 1, 0, 0, lasts);
  mille_pool_index(run, NULL, tokens, 1, 0, 0, plainLasts);
  mille_pool_mean(run, input[0], columns + 2, run->inputs[0], tokens, 0,
                  columns, means[0], columns);
  mille_pool_mean(run, input[0], columns + 2, NULL, tokens, 0, columns,
                  plainMeans[0], columns);
  prepareOnce(run);
  for (int64_t i = 0; i < 2; ++i)
    mille_keep(run, input[0], columns + 2, rows, columns, 0, 1 - i);
  return 0;
}

/* ---- Positions, experts, tokens: once, against plain formulas ---- */

enum { heads = 3, entries = 12, k = 3, group = 2, moved = 10 };
static int32_t counted[rows], countedMask[rows], chunks[rows],
    numbered[batch * 4];
static float sloped[rows][heads + 1], lengthScales[4][rows];
static float stretched[rows][2 * n], replaced[rows][2 * n],
    unstretched[rows][2 * n];
static const double slopes[heads] = {0.7, 0.3, 1.1};
static const double others[n] = {0.5, 0.25, 0.1, 0.02, 2e-3, 3e-4};
static const double lengths[5] = {8, 2, 0.5, 16, 1};
static const int32_t tokenIndex[moved] = {3, -1, 0, 36, 5, 5, -1, 2, 1, 4};
static float gathered[batch * moved / group][group * columns + 2];
/* 2 channels of 5 x 4 pixels, kernel 3 x 2, stride 2 x 1, padding 1 x 1, CLS.
 * */
static const int32_t image[10] = {2, 5, 4, 3, 2, 2, 1, 1, 1, 1};
enum { down = (5 + 2 - 3) / 2 + 1, across = 4 + 2 - 2 + 1 };
static float patches[batch * (1 + down * across)][2 * 3 * 2];
/* Tokens of an image, 3 down, 5 across, four side by side, and a row more. */
enum { tall = 3, wide = 5, merged = 2 * 3, channels = 7, untouched = 99 };
static float fours[batch * merged + 1][4 * channels];
static float products[batch][batch];
static float logits[rows][entries + 4], selection[entries];
static float chosenWeights[2][rows][k];
static int32_t order[2][rows * k], place[2][rows * k], starts[2][entries + 1];
static int32_t firstIds[batch], highestIds[batch], second[batch];
static float skipped[batch][columns];

static void prepareOnce(mille_run *run) {
  const int32_t *ids = run->inputs[1], *seen = run->inputs[0];
  mille_count_tokens(run, ids, rows, tokens, 1, 7, 1, 1, NULL, 0, counted);
  mille_count_tokens(run, seen, rows, tokens, 0, 7, 1, 1, NULL, 0, countedMask);
  mille_count_tokens(run, seen, rows, tokens, 0, 7, 0, 3, NULL, 0, chunks);
  mille_token_numbers(run, tokenIndex + 2, 4, numbered);
  mille_alibi(run, ids, rows, slopes, heads, 0.5, sloped[0], heads + 1);
  mille_rotation(run, ids, rows, frequencies, n, 1, 20, 2, NULL, stretched[0],
                 2 * n);
  mille_rotation(run, ids, rows, frequencies, n, 1, 20, 2, others, replaced[0],
                 2 * n);
  mille_rotation(run, ids, rows, frequencies, n, 1, rows + 1, 2, others,
                 unstretched[0], 2 * n);
  mille_query_scale(run, MILLE_LOG_KEYS, lengths, NULL, seen, rows, tokens, 1,
                    0, 0, NULL, 0, lengthScales[0]);
  mille_query_scale(run, MILLE_LOG_KEYS, lengths, NULL, seen, rows, tokens, 0,
                    5, 3, NULL, 0, lengthScales[1]);
  mille_query_scale(run, MILLE_LOG_POSITION, lengths, NULL, NULL, rows, tokens,
                    0, 0, 0, NULL, 0, lengthScales[2]);
  mille_query_scale(run, MILLE_LOG_FLOOR, lengths, ids, NULL, rows, tokens, 0,
                    0, 0, NULL, 0, lengthScales[3]);
  mille_gather_tokens(run, input[0], columns + 2, columns, tokenIndex, moved,
                      group, 1, tokens, gathered[0], group * columns + 2);
  mille_patches(run, input[0], columns + 2, image, 0, 0, patches[0], 2 * 3 * 2);
  const int32_t merge[5] = {MILLE_MOVE_MERGE, 1, 1, 0, 0};
  for (int e = 0; e < 4 * channels; ++e)
    fours[batch * merged][e] = untouched;
  mille_move_patches(run, input[0], columns + 2, channels, tall, wide, merge,
                     fours[0], 4 * channels);
  mille_similarity(run, input[0], columns + 2, input[5], columns + 2, columns,
                   1);
  /* Softmax over all, renormalised; sigmoid, a bias, 2 of 4 groups by two. */
  const int32_t plain[8] = {entries, k, 0, 1, 1, 0, 1, 0};
  const int32_t grouped[8] = {entries, k, 1, 4, 2, 1, 0, 0};
  mille_route(run, plain, 1e-9, 1, logits[0], entries + 4, NULL, rows,
              chosenWeights[0][0], k, order[0], place[0], starts[0]);
  mille_route(run, grouped, 0, 2.5, logits[0], entries + 4, selection, rows,
              chosenWeights[1][0], k, order[1], place[1], starts[1]);
  mille_pool_index(run, ids, tokens, MILLE_POOL_FIRST_ID, 0, 7, firstIds);
  mille_pool_index(run, ids, tokens, MILLE_POOL_HIGHEST_ID, 0, 0, highestIds);
  mille_pool_index(run, NULL, tokens, MILLE_POOL_FIRST, 1, 0, second);
  mille_pool_mean(run, input[0], columns + 2, seen, tokens, 4, columns,
                  skipped[0], columns);
}

static float nearBf16(double value) {
  if (value == 0)
    return 0;
  double step = ldexp(1, ilogb(value) - 7);
  return (float)(nearbyint(value / step) * step);
}

static void checkPositions(void) {
  int32_t most = 0;
  for (int m = 0; m < rows; ++m)
    most = positions[m] > most ? positions[m] : most;
  double s = 2.0 * (most + 1) / 20 - 1;
  for (int m = 0; m < rows; ++m) {
    int t = m % tokens, ids = 0, ones = 0, causal = 0, window = 0;
    for (int j = 0; j < tokens; ++j) {
      int key = m - t + j;
      ids += j <= t && positions[key] != 7;
      ones += j <= t && mask[key];
      causal += j <= t && mask[key];
      window += j > t - 5 && j < t + 3 && mask[key];
    }
    CHECK(counted[m] == (positions[m] != 7 ? ids : 0));
    CHECK(countedMask[m] == (mask[m] ? ones : 0));
    CHECK(chunks[m] == (mask[m] ? (ones - 1) / 3 : 0));
    for (int h = 0; h < heads; ++h)
      CHECK(sloped[m][h] ==
            0.5f * nearBf16((double)nearBf16(slopes[h]) * positions[m]));
    for (int i = 0; i < n; ++i) {
      double far = frequencies[i] / pow(s, (double)i / (n - 1));
      CHECK(stretched[m][i] == (float)cos(positions[m] * far));
      CHECK(replaced[m][n + i] == (float)sin(positions[m] * others[i]));
      CHECK(unstretched[m][n + i] == (float)sin(positions[m] * frequencies[i]));
    }
    CHECK(lengthScales[0][m] == (float)(log(causal > 2 ? causal : 2) / log(8)));
    CHECK(lengthScales[1][m] == (float)(log(window > 2 ? window : 2) / log(8)));
    CHECK(lengthScales[2][m] == (float)fmax(1, log(t + 1) / log(8)));
    CHECK(lengthScales[3][m] ==
          (float)(1 + 0.5 * log(1 + floor((positions[m] + 1) / 16.0))));
  }
}

static void checkMoves(void) {
  for (int b = 0; b < batch; ++b) {
    for (int t = 0; t < 4; ++t)
      CHECK(numbered[b * 4 + t] == tokenIndex[2 + t]);
    for (int t = 0; t < moved; ++t)
      for (int c = 0; c < columns; ++c) {
        float got = gathered[(b * moved + t) / group][t % group * columns + c];
        CHECK(got ==
              (tokenIndex[t] < 0 ? 0 : input[b * tokens + tokenIndex[t]][c]));
      }
    for (int y = 0; y < down; ++y)
      for (int x = 0; x < across; ++x)
        for (int e = 0; e < 12; ++e) {
          int row = y * 2 - 1 + e / 2 % 3, column = x - 1 + e % 2;
          int inside = row >= 0 && row < 5 && column >= 0 && column < 4;
          int from = e / 6 * 20 + row * 4 + column;
          CHECK(patches[b * (1 + down * across) + 1 + y * across + x][e] ==
                (inside ? input[b][from] : 0));
        }
    for (int e = 0; e < 12; ++e)
      CHECK(patches[b * (1 + down * across)][e] == 0);
    int first = 0, highest = 0, count = 0;
    for (int t = tokens - 1; t >= 0; --t) {
      first = positions[b * tokens + t] == 7 ? t : first;
      if (positions[b * tokens + t] >= positions[b * tokens + highest])
        highest = t;
      count += t >= 4 && mask[b * tokens + t];
    }
    CHECK(firstIds[b] == b * tokens + first && second[b] == b * tokens + 1);
    CHECK(highestIds[b] == b * tokens + highest);
    for (int c = 0; c < columns; ++c) {
      double sum = 0;
      for (int t = 4; t < tokens; ++t)
        sum += mask[b * tokens + t] ? input[b * tokens + t][c] : 0;
      CHECK(skipped[b][c] == (count ? (float)(sum / count) : 0));
    }
    for (int other = 0; other < batch; ++other) {
      double sum = 0;
      for (int c = 0; c < columns; ++c)
        sum += (double)input[b][c] * input[5 + other][c];
      CHECK(products[b][other] == (float)sum);
    }
  }
}

/* Above and below, then left and right; outside of the image are zeros. */
static void checkMerged(void) {
  for (int row = 0; row < batch * merged; ++row)
    for (int e = 0; e < 4 * channels; ++e) {
      const int part = e / channels, of = row % merged,
                y = of / 3 * 2 + part % 2, x = of % 3 * 2 + part / 2,
                at = row / merged * tall * wide + y * wide + x;
      CHECK(fours[row][e] ==
            (y < tall && x < wide ? input[at][e % channels] : 0));
    }
  for (int e = 0; e < 4 * channels; ++e)
    CHECK(fours[batch * merged][e] == untouched);
}

/* Chosen one after the other by hand, from scores that hidden groups lack. */
static void checkRoute(int grouped) {
  int32_t sorted = 0;
  for (int e = 0; e < entries; ++e) {
    CHECK(starts[grouped][e] == sorted);
    for (int m = 0; m < rows; ++m) {
      double score[entries], wanted[entries], sum = 0, groups[4], taken = 0;
      for (int i = 0; i < entries; ++i)
        sum += exp(logits[m][i]);
      for (int i = 0; i < entries; ++i) {
        score[i] =
            grouped ? 1 / (1 + exp(-logits[m][i])) : exp(logits[m][i]) / sum;
        wanted[i] = score[i] + (grouped ? selection[i] : 0);
      }
      for (int g = 0; g < 4; ++g) {
        const double *w = wanted + 3 * g;
        double least = fmin(w[0], fmin(w[1], w[2]));
        groups[g] = w[0] + w[1] + w[2] - least;
      }
      for (int g = 0; grouped && g < 4; ++g) {
        int better = 0;
        for (int other = 0; other < 4; ++other)
          better += groups[other] > groups[g];
        for (int i = 0; better >= 2 && i < 3; ++i)
          wanted[3 * g + i] = -1e9;
      }
      int rank = 0;
      for (int i = 0; i < entries; ++i) {
        int before = wanted[i] > wanted[e] || (wanted[i] == wanted[e] && i < e);
        rank += before;
      }
      for (int i = 0; i < entries; ++i) {
        int before = 0;
        for (int j = 0; j < entries; ++j)
          before += wanted[j] > wanted[i] || (wanted[j] == wanted[i] && j < i);
        taken += before < k ? score[i] : 0;
      }
      if (rank >= k)
        continue;
      int slot = m * k + rank;
      CHECK(place[grouped][slot] == sorted && order[grouped][sorted] == m);
      ++sorted;
      double weight = grouped ? score[e] * 2.5 : score[e] / (taken + 1e-9);
      CHECK(fabs(chosenWeights[grouped][m][rank] - weight) < 1e-6);
    }
  }
  CHECK(starts[grouped][entries] == sorted && sorted == rows * k);
}

static const mille_schedule_info schedules[2] = {{"branch_scale", 1, 3, 1000},
                                                 {"skip_scale", 1, 3, 100}};
static const mille_isa isa = {"any", 0};
static const mille_tensor_info infos[3] = {
    {"mask", MILLE_I32, 2, {-1, -2}, MILLE_DEFAULT_ONES, 0, 0},
    {"positions", MILLE_I32, 2, {-1, -2}, MILLE_DEFAULT_POSITIONS, 0, 0},
    {"step", MILLE_I32, 1, {1}, MILLE_DEFAULT_LAST, 0, 0}};
static const mille_tensor_info keptInfos[2] = {
    {"kept", MILLE_F32, 4, {2, -1, -2, columns}, 0, 0, 0},
    {"similarity", MILLE_F32, 2, {-1, -1}, 0, 0, 0}};

static void checkRun(void) {
  for (int m = 0; m < rows; ++m) {
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
  CHECK(scheduled[0] == 1.5f && scheduled[1] == 3);
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
  mille_weights_header header = {
      {0}, MILLE_WEIGHTS_VERSION, 0, sizeof weights, 0, 120, 0, 128, "prepare"};
  memcpy(header.magic, MILLE_WEIGHTS_MAGIC, 8);
  memcpy(weights, &header, sizeof header);
  static const mille_entry entry = {.name = "forward",
                                    .forward = forward,
                                    .input_count = 3,
                                    .output_count = 2,
                                    .inputs = infos,
                                    .outputs = keptInfos,
                                    .arena_bytes_per_row = 64};
  mille_model model = {.abi_version = MILLE_ABI_VERSION,
                       .isa_count = 1,
                       .entry_count = 1,
                       .size_count = 2,
                       .kernel_count = 0,
                       .name = "prepare",
                       .isas = &isa,
                       .entries = &entry,
                       .sizes = fakeSizes,
                       .kernels = NULL,
                       .token_size = 1,
                       .weights_bytes = sizeof weights,
                       .weights = weights,
                       .schedule_count = 2,
                       .schedules = schedules};
  model.table_hash = fake_table_hash(weights);
  mille_package *package;
  char message[512];
  mille_status status =
      mille_package_open(&model, NULL, NULL, &package, message, sizeof message);
  EXPECT(status, MILLE_OK, message, "");
  for (int m = 0; m < rows; ++m)
    for (int c = 0; c < columns + 2; ++c)
      input[m][c] = (float)((m * 7 + c * 3) % 19) / 3;
  for (int m = 0; m < rows; ++m)
    for (int e = 0; e < entries; ++e)
      logits[m][e] = (float)((m * 29 + e * e * 13) % 41) / 8;
  for (int e = 0; e < entries; ++e)
    selection[e] = (float)(e * 7 % 12) / 40;
  float *outputs[2] = {kept[0][0], products[0]};
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
    CHECK(mille_session_run(session, batch, tokens, given, outputs) ==
          MILLE_OK);
    checkRun();
    checkPositions();
    checkMoves();
    checkMerged();
    checkRoute(0);
    checkRoute(1);
    /* The defaults: all ones, 0 to tokens - 1, the schedule's end. */
    given[0] = given[1] = given[2] = NULL;
    CHECK(mille_session_run(session, batch, tokens, given, outputs) ==
          MILLE_OK);
    for (int m = 0; m < rows; ++m) {
      mask[m] = 1;
      positions[m] = m % tokens;
    }
    CHECK(scheduled[0] == 3);
    scheduled[0] = 1.5f;
    checkRun();
    skip = tokens;
    EXPECT(mille_session_run(session, batch, tokens, given, outputs),
           MILLE_INVALID_ARGUMENT, mille_session_message(session),
           "sequences have 37 tokens but the first 37 are not pooled");
    skip = 0;
    CHECK(mille_session_close(session) == MILLE_OK);
  }
  CHECK(mille_package_close(package) == MILLE_OK);
  return 0;
}
