/* The runtime's own steps, here and on a device of OpenCL: the same numbers,
 * the same experts, also of equal ones and of those that are no numbers. A
 * row's bits do not depend on the others. */
#include "FakeModel.h"
#include "runtime/Backends.h"

#include <math.h>
#include <string.h>

enum {
  most = 70,
  tokens = 9,
  columns = 20,
  entries = 24,
  k = 3,
  count = 8,
  group = 2
};
enum { weightsBytes = 256, inputCount = 4, outputCount = 10 };

/* ---- The model ---- */

static const int32_t windows[count] = {8, 0, -1, 3, 4, 4, 1, 7};
static const int32_t all[tokens] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
/* entries, k, score, groups, top_groups, group_score, renormalised,
 * softmax_chosen */
static const int32_t routings[][8] = {
    {entries, k, 0, 1, 1, 0, 0, 0}, {entries, k, 0, 1, 1, 0, 1, 0},
    {entries, k, 0, 1, 1, 0, 0, 1}, {entries, k, 1, 1, 1, 0, 1, 0},
    {entries, k, 1, 6, 2, 1, 1, 0}, {entries, k, 0, 4, 2, 0, 0, 0},
    {entries, k, 1, 24, 3, 1, 0, 1}};
static const int32_t *routing = routings[0];
static int biased;
static const double slope = 0.5;

static int32_t forward(mille_run *run) {
  const float *x = run->inputs[1];
  const int32_t *mask = run->inputs[2], *other = run->inputs[3];
  float *const *out = run->outputs;
  int64_t rows = run->batch * tokens;
  float *sloped = (float *)run->arena;
  mille_route(run, routing, biased ? 0.25 : 0, biased ? 2.5 : 1, run->inputs[0],
              entries, biased ? (const float *)run->weights : NULL, run->batch,
              out[0], k, (int32_t *)out[1], (int32_t *)out[2],
              (int32_t *)out[3]);
  mille_gather_tokens(run, x, columns, columns, windows, count, group, 1,
                      tokens, out[4], group * columns);
  int32_t code = mille_pool_mean(run, x, columns, NULL, tokens, 2, columns,
                                 out[5], columns);
  if (code == 0)
    code = mille_pool_mean(run, x, columns, mask, tokens, 0, columns, out[6],
                           columns);
  mille_similarity(run, out[5], columns, out[6], columns, columns, 7);
  /* The same memory twice: what a device is given first, it keeps. */
  mille_alibi(run, mask, rows, &slope, 1, 1, sloped, 1);
  mille_gather_tokens(run, sloped, 1, 1, all, tokens, 1, 1, tokens, out[8], 1);
  mille_alibi(run, other, rows, &slope, 1, 1, sloped, 1);
  mille_gather_tokens(run, sloped, 1, 1, all, tokens, 1, 1, tokens, out[9], 1);
  return code;
}

static const mille_isa isas[] = {{"any", 0, NULL},
                                 {"opencl", 0, &mille_opencl_backend},
                                 {"cuda", 0, &mille_cuda_backend}};
static const mille_tensor_info inputs[inputCount] = {
    {"logits", MILLE_F32, 2, {-1, entries}, MILLE_REQUIRED, 0, 0},
    {"x", MILLE_F32, 3, {-1, -2, columns}, MILLE_REQUIRED, 0, 0},
    {"mask", MILLE_I32, 2, {-1, -2}, MILLE_REQUIRED, 0, 0},
    {"other", MILLE_I32, 2, {-1, -2}, MILLE_REQUIRED, 0, 0}};
static const mille_tensor_info outputs[outputCount] = {
    {"weights", MILLE_F32, 2, {-1, k}, 0, 0, 0},
    {"order", MILLE_F32, 2, {-1, k}, 0, 0, 0},
    {"place", MILLE_F32, 2, {-1, k}, 0, 0, 0},
    {"starts", MILLE_F32, 1, {entries + 1}, 0, 0, 0},
    {"gathered", MILLE_F32, 2, {-1, count * columns}, 0, 0, 0},
    {"pooled", MILLE_F32, 2, {-1, columns}, 0, 0, 0},
    {"masked", MILLE_F32, 2, {-1, columns}, 0, 0, 0},
    {"pairs", MILLE_F32, 2, {-1, -1}, 0, 0, 0},
    {"sloped", MILLE_F32, 2, {-1, -2}, 0, 0, 0},
    {"other_sloped", MILLE_F32, 2, {-1, -2}, 0, 0, 0}};

static union {
  char bytes[weightsBytes];
  mille_weights_header header;
} file;

static mille_options options = MILLE_OPTIONS_INIT;
static mille_package *openPackage(void) {
  static mille_model model;
  mille_package *package;
  char why[512] = "";
  file.header =
      (mille_weights_header){{0}, MILLE_WEIGHTS_VERSION, 0, weightsBytes,
                             0,   sizeof file.header,    0, 128,
                             {0}};
  memcpy(file.header.magic, MILLE_WEIGHTS_MAGIC, 8);
  strcpy(file.header.model, "steps");
  for (int e = 0; e < entries; ++e)
    ((float *)(file.bytes + 128))[e] = (float)(e * 7 % 12) / 40;
  static const mille_entry entry = {.name = "forward",
                                    .forward = forward,
                                    .input_count = inputCount,
                                    .output_count = outputCount,
                                    .inputs = inputs,
                                    .outputs = outputs,
                                    .arena_bytes_per_row = 64};
  model = (mille_model){.abi_version = MILLE_ABI_VERSION,
                        .isa_count = 3,
                        .entry_count = 1,
                        .size_count = 2,
                        .kernel_count = 0,
                        .name = "steps",
                        .isas = isas,
                        .entries = &entry,
                        .sizes = fakeSizes,
                        .kernels = NULL,
                        .token_size = 1,
                        .weights_bytes = weightsBytes,
                        .weights = file.bytes};
  model.table_hash = fake_table_hash(file.bytes);
  EXPECT(mille_package_open(&model, NULL, &options, &package, why, sizeof why),
         MILLE_OK, why, "");
  return package;
}

/* ---- Its runs ---- */

static float logits[most][entries], x[most][tokens][columns];
static int32_t mask[most][tokens], other[most][tokens];

typedef struct {
  float weights[most][k];
  int32_t order[most * k], place[most * k], starts[entries + 1];
  float gathered[most][count * columns], pooled[most][columns],
      masked[most][columns];
  float pairs[most * most], sloped[most][tokens], otherSloped[most][tokens];
} Got;
static Got here, there, alone;

static void run(mille_session *session, int first, int batch, Got *got) {
  const void *given[inputCount] = {logits[first], x[first], mask[first],
                                   other[first]};
  float *wanted[outputCount] = {got->weights[0],     (float *)got->order,
                                (float *)got->place, (float *)got->starts,
                                got->gathered[0],    got->pooled[0],
                                got->masked[0],      got->pairs,
                                got->sloped[0],      got->otherSloped[0]};
  memset(got, 0x7f, sizeof *got);
  EXPECT(mille_session_run(session, batch, tokens, given, wanted), MILLE_OK,
         mille_session_message(session), "");
}

static void fill(void) {
  unsigned number = 1;
  for (int m = 0; m < most; ++m) {
    for (int e = 0; e < entries; ++e) /* many are equal */
      logits[m][e] =
          (float)((m * 29 + e * e * 13) % 11) / 8 - (m % 7 == 6 ? 60 : 0);
    for (int t = 0; t < tokens; ++t) {
      mask[m][t] = m % 5 == 4 ? 0 : (m + t) % 3 != 0;
      other[m][t] = (m * t) % 4 != 0;
      for (int c = 0; c < columns; ++c) {
        number = number * 1664525 + 1013904223;
        x[m][t][c] = (float)(number >> 8) / (1 << 20) - 8;
      }
    }
  }
  for (int e = 0; e < entries; ++e)
    logits[1][e] = e % 4 == 1 ? logits[1][e] : -INFINITY;
  logits[2][5] = NAN;
  logits[3][7] = INFINITY;
  for (int e = 0; e < entries; ++e)
    logits[4][e] = -INFINITY;
  x[3][5][2] = INFINITY;
}

static int close(float a, float b, double scale) {
  return a == b || (isnan(a) && isnan(b)) ||
         fabs((double)a - b) <= 1e-6 * scale;
}

static void compare(int batch) {
  CHECK(memcmp(here.order, there.order, sizeof here.order) == 0);
  CHECK(memcmp(here.place, there.place, sizeof here.place) == 0);
  CHECK(memcmp(here.starts, there.starts, sizeof here.starts) == 0);
  CHECK(here.starts[entries] == batch * k);
  for (int m = 0; m < batch; ++m)
    for (int j = 0; j < k; ++j)
      CHECK(close(here.weights[m][j], there.weights[m][j],
                  1 + fabs(here.weights[m][j])));
  CHECK(memcmp(here.gathered, there.gathered, sizeof here.gathered) == 0);
  for (int m = 0; m < batch; ++m)
    for (int c = 0; c < columns; ++c)
      CHECK(close(here.pooled[m][c], there.pooled[m][c], 0.5) &&
            close(here.masked[m][c], there.masked[m][c], 0.5));
  for (int i = 0; i < batch * batch; ++i)
    CHECK(close(here.pairs[i], there.pairs[i], 50));
  CHECK(memcmp(here.sloped, there.sloped, sizeof here.sloped) == 0);
  CHECK(memcmp(here.otherSloped, there.otherSloped, sizeof here.otherSloped) ==
        0);
}

/* A row by itself has the bits that it has among others. */
static void compareRow(int m) {
  CHECK(memcmp(alone.weights[0], there.weights[m], sizeof alone.weights[0]) ==
        0);
  CHECK(memcmp(alone.pooled[0], there.pooled[m], sizeof alone.pooled[0]) == 0);
  CHECK(memcmp(alone.masked[0], there.masked[m], sizeof alone.masked[0]) == 0);
  CHECK(memcmp(alone.gathered[0], there.gathered[m],
               sizeof alone.gathered[0]) == 0);
}

/* ---- Tables of the model's code, for which there is no room ---- */

static int refuseAt, pieces;
static void *allocate(void *user, size_t size, size_t alignment) {
  void *memory;
  (void)user;
  if (++pieces == refuseAt || posix_memalign(&memory, alignment, size))
    return NULL;
  return memory;
}
static void release(void *user, void *memory) {
  (void)user;
  free(memory);
}

/* The n-th piece of memory of a session is refused, then the n-th copy to the
 * device, n = 1, 2, ... until it is made; what is said each time. */
static void refusals(const char *device, const char *wish, const char *call,
                     const char *code) {
  static const char *const sentences[2] = {"a list of tables: ",
                                           " takes no tables: "};
  const mille_size sizes[2] = {{"batch", 2}, {"tokens", tokens}};
  options.allocate = allocate;
  options.release = release;
  for (int way = 0; way < 2; ++way) {
    int seen = 0;
    for (int at = 1, made = 0; !made; ++at) {
      char text[64];
      mille_package *package = openPackage();
      mille_session *session = NULL;
      snprintf(text, sizeof text, "%s:%d%s", call, at, code);
      CHECK(setenv(wish, way ? text : "", 1) == 0);
      refuseAt = way ? 0 : at;
      pieces = 0;
      made = mille_session_create_on(package, sizes, 2, 1, device, &session) ==
             MILLE_OK;
      CHECK(setenv(wish, "", 1) == 0);
      refuseAt = 0;
      seen |= strstr(mille_package_message(package), sentences[way]) != NULL;
      if (made)
        CHECK(mille_session_close(session) == MILLE_OK);
      CHECK(mille_package_close(package) == MILLE_OK);
    }
    CHECK(seen);
  }
}

int main(int count, char **arguments) {
  if (count == 5) {
    refusals(arguments[1], arguments[2], arguments[3], arguments[4]);
    printf("tables without room\n");
    return 0;
  }
  mille_package *package = openPackage();
  const mille_size sizes[2] = {{"batch", most}, {"tokens", tokens}};
  mille_session *cpu, *device;
  EXPECT(mille_session_create_on(package, sizes, 2, 1, "cpu", &cpu), MILLE_OK,
         mille_package_message(package), "");
  EXPECT(mille_session_create_on(package, sizes, 2, 1, "opencl", &device),
         MILLE_OK, mille_package_message(package), "");
  fill();
  for (size_t r = 0; r < sizeof routings / sizeof *routings; ++r)
    for (biased = 0; biased < 2; ++biased) {
      routing = routings[r];
      for (int batch = most; batch > 0; batch = batch / 3) {
        run(cpu, 0, batch, &here);
        run(device, 0, batch, &there);
        compare(batch);
      }
      run(device, 0, most, &there);
      for (int m = 0; m < 7; ++m) {
        run(device, m, 1, &alone);
        compareRow(m);
      }
    }
  CHECK(mille_session_close(cpu) == MILLE_OK);
  CHECK(mille_session_close(device) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  printf("the same steps\n");
  return 0;
}
