/* States in f16: every number of a row is the nearest f16, ties to even, those
 * beyond the largest become it; keys have rows in lanes, values columns. */
#include "FakeModel.h"
#include "runtime/StatePanels.h"

#include <math.h>
#include <string.h>

enum {
  columns = 6,
  heads = 2,
  size = columns / heads,
  most = 64,
  context = 64
};

static int32_t step(mille_run *run) {
  const int32_t *past = run->inputs[1];
  for (int keys = 0; keys < 2; ++keys)
    mille_remember_halves(run, run->inputs[0], columns, keys, heads, size, 4,
                          past, context, MILLE_RUN_TOKENS, run->states[keys]);
  return 0;
}

static const mille_isa isas[] = {{"any", 0, NULL}};
static const mille_size_info sizes[] = {
    {"batch", 0}, {"tokens", 0}, {"context", 0}};
static const mille_tensor_info inputs[] = {
    {"x", MILLE_F32, 3, {-1, -2, columns}, MILLE_REQUIRED, 0, 0},
    {"past", MILLE_I32, 1, {-1}, MILLE_DEFAULT_ZEROS, 0, 0}};
static const mille_tensor_info states[] = {
    {"values", MILLE_F16, 4, {1, -1, -3, columns}, 0, 0, 0},
    {"keys", MILLE_F16, 4, {1, -1, -3, columns}, 0, 0, 0}};

static mille_package *openPackage(mille_model *model) {
  size_t bytes;
  mille_package *package = NULL;
  char why[512] = "";
  static const mille_entry entry = {.name = "step",
                                    .forward = step,
                                    .input_count = 2,
                                    .inputs = inputs,
                                    .arena_bytes_per_row = 64,
                                    .states = 3,
                                    .past_input = 1};
  *model = *fake_model();
  model->weights = fake_weights(&bytes);
  model->isa_count = 1;
  model->kernel_count = 0;
  model->size_count = 3;
  model->state_count = 2;
  model->isas = isas;
  model->entries = &entry;
  model->sizes = sizes;
  model->states = states;
  model->token_size = 1;
  EXPECT(mille_package_open(model, NULL, NULL, &package, why, sizeof why),
         MILLE_OK, why, "");
  return package;
}

/* The nearest f16, found in double. */
static double rounded(float x) {
  if (isnan(x) || isinf(x) || x == 0)
    return x;
  if (fabs(x) > 65504)
    return copysign(65504, x);
  int exponent;
  frexp(x, &exponent);
  const int last = exponent - 11 > -24 ? exponent - 11 : -24;
  return ldexp(nearbyint(ldexp(x, -last)), last);
}
static double numberOf(uint16_t half) {
  const int exponent = half >> 10 & 31, part = half & 1023;
  const double size = exponent == 31  ? part ? NAN : INFINITY
                      : exponent == 0 ? ldexp(part, -24)
                                      : ldexp(1024 + part, exponent - 25);
  return half & 0x8000 ? -size : size;
}

static void check(mille_session *session, int tokens, float x[][columns]) {
  static uint16_t held[2][context * columns];
  const mille_size now[] = {{"batch", 1}, {"tokens", tokens}};
  const void *given[] = {x, NULL};
  CHECK(mille_session_run_entry(session, 0, now, 2, given, NULL) == MILLE_OK);
  for (size_t keys = 0; keys < 2; ++keys)
    CHECK(mille_session_read_state(session, keys, 0, held[keys],
                                   sizeof held[keys]) == MILLE_OK);
  for (int t = 0; t < tokens; ++t)
    for (int c = 0; c < columns; ++c) {
      const int64_t head = (int64_t)(c / size) * size * context, d = c % size;
      const int64_t places[2] = {mille_value_place(t, d, size, 1, context),
                                 mille_key_place(t, d, size, 1)};
      const double right = rounded(x[t][c]);
      for (int keys = 0; keys < 2; ++keys) {
        const double got = numberOf(held[keys][head + places[keys]]);
        CHECK(got == right || (isnan(got) && isnan(right)));
        CHECK(!signbit(got) == !signbit(x[t][c]) || isnan(got));
      }
    }
}

int main(void) {
  mille_model model;
  mille_package *package = openPackage(&model);
  mille_session *session;
  const mille_size largest[] = {
      {"batch", 1}, {"tokens", most}, {"context", context}};
  static float x[most][columns];
  CHECK(mille_session_create_for(package, largest, 3, 1, &session) == MILLE_OK);
  /* All halves and what lies between two of them, then words at random. */
  uint32_t next = 0, random = 1;
  for (int round = 0; round < 1600; ++round) {
    for (int i = 0; i < most * columns; ++i) {
      random = random * 1664525u + 1013904223u;
      const uint32_t word = round < 1200 ? next : random;
      next += 0x2400 - (i % 3 == 0); /* near the middle of two */
      memcpy(&x[i / columns][i % columns], &word, sizeof word);
    }
    check(session, most, x);
  }
  static const float special[][columns] = {
      {65504, 65519, 65520, 1e9f, INFINITY, NAN},
      {-65504, -65520, -INFINITY, 0.f, -0.f, 0x1p-24f},
      {0x1p-25f, 0x1.8p-24f, 0x1p-14f, 0x1.ffcp-15f, 0x1.ffep-15f, 0x1p-30f}};
  memcpy(x, special, sizeof special);
  check(session, 3, x);
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  puts("the nearest halves");
  return 0;
}
