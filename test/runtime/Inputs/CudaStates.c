/* States of sessions on a device of CUDA, without one: FakeCuda.cpp is the
 * driver, and computes the step that remembers. A row of the out is the sum of
 * what its sequence's state holds up to it. */
#include "FakeCudaDriver.h"
#include "runtime/Backends.h"
#include "runtime/mille.h"

#include <stdlib.h>
#include <string.h>

enum { columns = 16, batch = 3, most = 12, context = 20, room = 32 };

/* ---- The kernel ---------------------------------------------------------- */

/* (state, mask, out, past, scratch, counters, queries, rows, sequences) */
static void attendOnDevice(void **arguments, const unsigned blocks[3],
                           unsigned shared) {
  const float *state = *(const float **)arguments[0];
  const int32_t *mask = *(const int32_t **)arguments[1];
  float *out = *(float **)arguments[2];
  const int32_t *past = *(const int32_t **)arguments[3];
  char *scratch = *(char **)arguments[4];
  uint32_t *counters = *(uint32_t **)arguments[5];
  const int32_t queries = *(int32_t *)arguments[6],
                rows = *(int32_t *)arguments[7],
                sequences = *(int32_t *)arguments[8];
  CHECK(rows == room && shared == 0);
  CHECK(blocks[0] == (unsigned)(queries * sequences));
  memset(scratch, 0xff, (size_t)queries * sequences * rows * 4);
  CHECK(!counters[0] && !counters[3]);
  for (int s = 0; s < sequences; ++s)
    for (int i = 0; i < queries; ++i)
      for (int n = 0; n < columns; ++n) {
        float sum = 0;
        for (int j = 0; j <= past[s] + i && j < rows; ++j)
          if (mask[s * rows + j])
            sum += state[(s * rows + j) * columns + n];
        out[(s * queries + i) * columns + n] = sum;
      }
}
static const fake_cuda_kernel attendCode = {
    FAKE_CUDA_MAGIC, "attend", attendOnDevice, 9, {8, 8, 8, 8, 8, 8, 4, 4, 4}};

static const mille_launch_argument attendArguments[] = {
    {.kind = MILLE_ARGUMENT_ADDRESS, .number = 1},
    {.kind = MILLE_ARGUMENT_ADDRESS, .number = 2},
    {.kind = MILLE_ARGUMENT_ADDRESS, .number = 3},
    {.kind = MILLE_ARGUMENT_PAST},
    {.kind = MILLE_ARGUMENT_SCRATCH,
     .rank = 3,
     .extent = {{MILLE_COUNT_ROWS, 1, 1},
                {MILLE_COUNT_KEYS, 1, 1},
                {MILLE_COUNT_ONE, 4, 1}}},
    {.kind = MILLE_ARGUMENT_COUNTERS, .amount = {MILLE_COUNT_ONE, 16, 1}},
    {.kind = MILLE_ARGUMENT_SCALAR, .number = 0},
    {.kind = MILLE_ARGUMENT_SCALAR, .number = 1},
    {.kind = MILLE_ARGUMENT_AMOUNT, .amount = {MILLE_COUNT_SEQUENCES, 1, 1}}};
static mille_device_kernel attendTable = {
    .entry = "attend",
    .cubin = &attendCode,
    .cubin_bytes = sizeof attendCode,
    .threads = 32,
    .cluster = 1,
    .tiles = {{MILLE_COUNT_QUERIES, 1, 1},
              {MILLE_COUNT_SEQUENCES, 1, 1},
              {MILLE_COUNT_ONE, 1, 1}},
    .argument_count = 9,
    .arguments = attendArguments};

static int32_t attendFunction(void **arguments) {
  return mille_device_launch(*(mille_task **)arguments[0], &attendTable,
                             arguments + 1);
}
static const mille_kernel_function functions[2] = {attendFunction,
                                                   attendFunction};
static const mille_kernel attend = {.name = "mille_k_attend",
                                    .partition = MILLE_PARTITION_SEQUENCES,
                                    .buffer_count = 4,
                                    .scalar_count = 3,
                                    .column_unit = 1,
                                    .row_unit = 1,
                                    .row_dimension = {1, 1, 0, 1},
                                    .functions = functions};
static const mille_kernel *const kernels[] = {&attend};

/* ---- The program --------------------------------------------------------- */

static int32_t step(mille_run *run) {
  const int32_t *past = run->inputs[2];
  const int64_t rows = run->sizes[2], tokens = run->token_rows;
  mille_remember(run, run->inputs[0], columns * 4, columns * 4, past, rows,
                 MILLE_RUN_TOKENS, run->states[0]);
  mille_remember(run, run->inputs[1], 4, 4, past, rows, MILLE_RUN_TOKENS,
                 run->states[1]);
  mille_buffer buffers[4];
  mille_dimension d[4][4];
  fake_buffer(&buffers[0], d[0], run->inputs[0], columns, tokens, 1);
  fake_buffer(&buffers[1], d[1], run->states[0], columns, run->batch * rows, 1);
  fake_buffer(&buffers[2], d[2], run->states[1], 0, run->batch * rows, 0);
  fake_buffer(&buffers[3], d[3], run->outputs[0], columns, tokens, 1);
  buffers[3].dimensions = 3;
  d[3][2] = (mille_dimension){0, 1, columns, 0};
  const int32_t scalars[] = {(int32_t)run->tokens, (int32_t)rows, 0};
  mille_stage stage = {.kernel = &attend,
                       .buffers = buffers,
                       .scalars = scalars,
                       .sequence_rows = run->tokens,
                       .token_buffers = 1 | 8,
                       .token_scalars = 1,
                       .past = past,
                       .key_scalars = 2,
                       .first_scalars = 4};
  const int32_t code = mille_launch(run, &stage, 1, tokens);
  /* once more, behind a kernel */
  mille_remember(run, run->inputs[1], 4, 4, past, rows, MILLE_RUN_TOKENS,
                 run->states[1]);
  return code;
}

static const mille_isa isas[] = {{"cuda", 0, &mille_cuda_backend}};
static const mille_size_info sizes[] = {
    {"batch", 0}, {"tokens", 0}, {"context", 0}};
static const mille_tensor_info inputs[] = {
    {"x", MILLE_F32, 3, {-1, -2, columns}, MILLE_REQUIRED, 0, 0},
    {"mask", MILLE_I32, 2, {-1, -2}, MILLE_DEFAULT_ONES, 0, 0},
    {"past", MILLE_I32, 1, {-1}, MILLE_DEFAULT_ZEROS, 0, 0}};
static const mille_tensor_info outputs[] = {
    {"y", MILLE_F32, 3, {-1, -2, columns}, 0, 0, 0}};
static const mille_tensor_info states[] = {
    {"held", MILLE_F32, 4, {1, -1, -3, columns}, 0, 0, 0},
    {"mask", MILLE_I32, 4, {1, -1, -3, 1}, 0, 0, 0}};

static mille_model model;
static void makeModel(void) {
  size_t bytes;
  const char *weights = fake_weights(&bytes);
  model = *fake_model();
  static const mille_entry entry = {.name = "step",
                                    .forward = step,
                                    .input_count = 3,
                                    .output_count = 1,
                                    .inputs = inputs,
                                    .outputs = outputs,
                                    .arena_bytes_per_row = 64,
                                    .padding_ends = MILLE_PADDING_AFTER,
                                    .mask_input = 1,
                                    .states = 3,
                                    .past_input = 2};
  model.isa_count = 1;
  model.kernel_count = 1;
  model.size_count = 3;
  model.state_count = 2;
  model.isas = isas;
  model.entries = &entry;
  model.kernels = kernels;
  model.sizes = sizes;
  model.states = states;
  model.token_size = 1;
  model.weights = weights;
}

/* ---- The tests ----------------------------------------------------------- */

static const mille_size largest[] = {
    {"batch", batch}, {"tokens", most}, {"context", context}};

static mille_session *open(mille_package *package) {
  mille_session *session;
  EXPECT(mille_session_create_on(package, largest, 3, 1, "cuda", &session),
         MILLE_OK, mille_package_message(package), "");
  return session;
}

static void close(mille_package *package, mille_session *session) {
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  nothingLeft();
}

/* Token t of sequence s is a number that no other has; sums of them are exact.
 */
static float token(int s, int t) { return (float)(1 + 100 * s + t * t); }
static float sumTo(int s, int end) {
  float sum = 0;
  for (int t = 0; t < end; ++t)
    sum += token(s, t);
  return sum;
}

static float y[batch * most * columns];
static mille_status run(mille_session *session, int tokens, const int32_t *past,
                        const int32_t *lengths) {
  static float x[batch * most * columns];
  static int32_t mask[batch * most];
  for (int s = 0; s < batch; ++s)
    for (int t = 0; t < tokens; ++t) {
      mask[s * tokens + t] = !lengths || t < lengths[s];
      for (int n = 0; n < columns; ++n)
        x[(s * tokens + t) * columns + n] =
            mask[s * tokens + t] ? token(s, past[s] + t) : 1e30f;
    }
  memset(y, 0xff, sizeof y);
  const mille_size now[] = {{"batch", batch}, {"tokens", tokens}};
  const void *given[] = {x, lengths ? mask : NULL, past};
  float *wanted[] = {y};
  return mille_session_run_entry(session, 0, now, 2, given, wanted);
}
static void check(mille_session *session, int tokens, const int32_t *past,
                  const int32_t *lengths) {
  EXPECT(run(session, tokens, past, lengths), MILLE_OK,
         mille_session_message(session), "");
  for (int s = 0; s < batch; ++s)
    for (int t = 0; t < (lengths ? lengths[s] : tokens); ++t)
      CHECK(y[(s * tokens + t) * columns + 5] == sumTo(s, past[s] + t + 1));
}

/* A step is the same list of commands wherever sequences stand: one graph. */
static void steps(void) {
  mille_package *package = fake_open(&model);
  mille_session *session = open(package);
  const int32_t none[batch] = {0}, ragged[batch] = {5, 2, 4};
  int32_t past[batch] = {5, 2, 4};
  check(session, 5, none, ragged); /* padding is kept, and hidden */
  for (int n = 0; n < 10; ++n) {
    check(session, 1, past, NULL);
    for (int s = 0; s < batch; ++s)
      ++past[s];
  }
  CHECK(counts()->instances == 1 && counts()->graph_launches == 9);
  /* what stands behind `past` is forgotten */
  check(session, 3, ragged, NULL);
  const int32_t last[batch] = {18, 18, 18};
  EXPECT(run(session, 3, last, NULL), MILLE_TOO_LARGE,
         mille_session_message(session),
         "sequence 0 has 18 tokens and 3 new ones but this session was created "
         "for 20");
  /* padding has no room and needs none */
  const int32_t one[batch] = {1, 2, 1}, behind[batch] = {19, 18, 19};
  CHECK(run(session, 4, behind, one) == MILLE_OK);
  close(package, session);
}

static void moves(void) {
  mille_package *package = fake_open(&model);
  mille_session *session = open(package);
  static char held[2][room * columns * 4 + 8];
  const int32_t none[batch] = {0}, four[batch] = {4, 4, 4};
  size_t bytes[2];
  check(session, 4, none, NULL);
  for (int n = 0; n < 2; ++n) {
    CHECK(mille_session_state_bytes(session, n, &bytes[n]) == MILLE_OK);
    CHECK(bytes[n] == (n ? room * 4 : room * columns * 4 + 8));
    memset(held[n], 0xff, sizeof held[n]);
    CHECK(mille_session_read_state(session, n, 1, held[n], bytes[n]) ==
          MILLE_OK);
  }
  /* tokens 0 to 3, zeros behind them, and the device's mark */
  const float *numbers = (const float *)held[0];
  CHECK(numbers[3 * columns] == token(1, 3) && numbers[4 * columns] == 0);
  CHECK(!memcmp(held[0] + room * columns * 4, "\0\0\0\0\0\0\0\0", 8));
  CHECK(((const int32_t *)held[1])[3] == 1 &&
        ((const int32_t *)held[1])[4] == 0);
  /* a part, of the end */
  static char part[16];
  CHECK(mille_session_read_state_part(session, 0, 1, bytes[0] - 16, part, 16) ==
        MILLE_OK);
  CHECK(!memcmp(part, held[0] + bytes[0] - 16, 16));
  CHECK(mille_session_copy_states(session, 0, 2) == MILLE_OK);
  CHECK(run(session, 1, four, NULL) == MILLE_OK);
  CHECK(y[2 * columns] == sumTo(0, 4) + token(2, 4));
  CHECK(mille_session_reset_states(session) == MILLE_OK);
  CHECK(run(session, 1, four, NULL) == MILLE_OK);
  CHECK(y[columns] == token(1, 4)); /* the mask is forgotten too */
  for (int n = 0; n < 2; ++n)
    CHECK(mille_session_write_state(session, n, 1, held[n], bytes[n]) ==
          MILLE_OK);
  CHECK(run(session, 1, four, NULL) == MILLE_OK);
  CHECK(y[columns] == sumTo(1, 5) && y[0] == token(0, 4));
  close(package, session);
}

/* The step that remembers waits itself for the kernel before it, where the
 * driver can. Two of them, one after the other, are one launch. */
static void early(void) {
  const int32_t none[batch] = {0};
  const struct {
    const char *wish;
    int overlapping;
  } cases[] = {{"", 1}, {"version=12020", 0}};
  for (unsigned n = 0; n < sizeof cases / sizeof *cases; ++n) {
    fake(cases[n].wish);
    mille_package *package = fake_open(&model);
    mille_session *session = open(package);
    const int before = counts()->overlapping, launches = counts()->launches;
    check(session, 3, none, NULL);
    CHECK(counts()->overlapping == before + cases[n].overlapping);
    CHECK(counts()->launches == launches + 3);
    close(package, session);
  }
  fake("");
}

/* Whatever call fails while a session with states is made. */
static void failures(void) {
  static const char *const names[] = {"cuMemAlloc_v2", "cuMemHostAlloc",
                                      "cuMemsetD8Async", "cuModuleLoadDataEx"};
  for (unsigned f = 0; f < sizeof names / sizeof *names; ++f) {
    int failed = 1, nth = 1;
    for (; failed; ++nth) {
      char wish[64];
      snprintf(wish, sizeof wish, "fail=%s:%d:2", names[f], nth);
      mille_package *package = fake_open(&model);
      mille_session *session = NULL;
      fake(wish);
      failed = mille_session_create_on(package, largest, 3, 1, "cuda",
                                       &session) != MILLE_OK;
      fake("");
      if (failed)
        CHECK(
            strstr(mille_package_message(package), "CUDA_ERROR_OUT_OF_MEMORY"));
      else
        CHECK(mille_session_close(session) == MILLE_OK);
      CHECK(mille_package_close(package) == MILLE_OK);
      nothingLeft();
    }
    CHECK(nth > 2);
  }
  mille_package *package = fake_open(&model);
  mille_session *session;
  fake("fail=cuMemsetD8Async:1:719");
  EXPECT(mille_session_create_on(package, largest, 3, 1, "cuda", &session),
         MILLE_NO_DEVICE, mille_package_message(package),
         "Fake GPU A takes no states: error 719");
  fake("memory=10000");
  EXPECT(mille_session_create_on(package, largest, 3, 1, "cuda", &session),
         MILLE_OUT_OF_MEMORY, mille_package_message(package),
         "the session's states and activations need ");
  fake("");
  CHECK(mille_package_close(package) == MILLE_OK);
  nothingLeft();
}

static mille_status moveBy(mille_session *session, const char *call) {
  static char held[room * columns * 4 + 8];
  if (strcmp(call, "cuMemsetD8Async") == 0)
    return mille_session_reset_states(session);
  if (strcmp(call, "cuMemcpyDtoDAsync_v2") == 0)
    return mille_session_copy_states(session, 0, 1);
  if (strcmp(call, "cuMemcpyHtoDAsync_v2") == 0)
    return mille_session_write_state(session, 0, 0, held, sizeof held);
  return mille_session_read_state(session, 0, 0, held, sizeof held);
}

/* A move that fails says so, and the next run is right. */
static void failingMoves(void) {
  static const char *const names[] = {
      "cuMemsetD8Async", "cuMemcpyDtoDAsync_v2", "cuMemcpyHtoDAsync_v2",
      "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"};
  mille_package *package = fake_open(&model);
  mille_session *session = open(package);
  const int32_t none[batch] = {0};
  for (unsigned f = 0; f < sizeof names / sizeof *names; ++f) {
    char wish[64];
    check(session, 2, none, NULL);
    snprintf(wish, sizeof wish, "fail=%s:1:719", names[f]);
    fake(wish);
    EXPECT(moveBy(session, names[f]), MILLE_NO_DEVICE,
           mille_session_message(session),
           "Fake GPU A: moving states: error 719");
    fake("");
    CHECK(moveBy(session, names[f]) == MILLE_OK);
    check(session, 3, none, NULL);
  }
  close(package, session);
}

int main(void) {
  makeModel();
  steps();
  early();
  moves();
  failures();
  failingMoves();
  puts("states on a device of CUDA");
  return 0;
}
