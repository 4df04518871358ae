/* The fake model: embed, then matmul and add in one launch, then attention-like
 * sums, then a mean. Must stay close to what generated code does. */
#include "FakeModel.h"

#include <string.h>

int fake_fail_at;
size_t fake_scratch = 1000;
void (*fake_on_kernel)(int call);
static int calls;

/* ---- Kernels ---- */

static int32_t enter(void **arguments) {
  int call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (fake_on_kernel)
    fake_on_kernel(call);
  if (fake_fail_at && call == fake_fail_at)
    return mille_task_fail(*(mille_task **)arguments[0], -22,
                           "call %d was told to fail", call);
  return 0;
}

static char *at(const mille_buffer *buffer, int d, int64_t index) {
  const mille_dimension *dimension = &buffer->dimension[d];
  return (char *)buffer->host +
         (index - dimension->min) * dimension->stride * 4;
}

/* (table, ids, positions; out): out[m, n] = table[ids[m], n] + positions[m] */
static int32_t embed(void **arguments) {
  int32_t code = enter(arguments);
  const mille_buffer *table = arguments[1], *ids = arguments[2],
                     *positions = arguments[3], *out = arguments[4];
  for (int m = 0; code == 0 && m < out->dimension[1].extent; ++m)
    for (int n = 0; n < fakeColumns; ++n) {
      int32_t id = ((int32_t *)ids->host)[m];
      ((float *)at(out, 1, m))[n] =
          ((float *)at(table, 1, id))[n] + ((int32_t *)positions->host)[m];
    }
  return code;
}

/* (input, weight [32, 24]; out) */
static int32_t matmul(void **arguments) {
  int32_t code = enter(arguments);
  const mille_buffer *input = arguments[1], *weight = arguments[2],
                     *out = arguments[3];
  int first = out->dimension[0].min, columns = out->dimension[0].extent;
  for (int m = 0; code == 0 && m < out->dimension[1].extent; ++m)
    for (int n = first; n < first + columns; ++n) {
      float sum = 0;
      for (int k = 0; k < fakeColumns; ++k)
        sum += ((float *)at(input, 1, m))[k] * ((float *)at(weight, 1, n))[k];
      ((float *)at(out, 1, m))[n - first] = sum;
    }
  return code;
}

/* (input; scalar; out): out = input + scalar */
static int32_t add(void **arguments) {
  int32_t code = enter(arguments);
  const mille_buffer *input = arguments[1], *out = arguments[3];
  for (int m = 0; code == 0 && m < out->dimension[1].extent; ++m)
    for (int n = 0; n < fakeHidden; ++n)
      ((float *)at(out, 1, m))[n] =
          ((float *)at(input, 1, m))[n] + *(int32_t *)arguments[2];
  return code;
}

/* (input, key_mask; keys; out): out[i, h, c] = sum over seen keys j of
 * input[j, h, c] * (j <= i ? 2 : 1) */
static int32_t attention(void **arguments) {
  int32_t code = enter(arguments);
  mille_task *task = *(mille_task **)arguments[0];
  const mille_buffer *input = arguments[1], *mask = arguments[2],
                     *out = arguments[4];
  int keys = *(int32_t *)arguments[3];
  char *spare = mille_task_allocate(task, 100);
  float *scratch = mille_task_allocate(task, fake_scratch);
  if (!spare || !scratch)
    return -11;
  CHECK(((uintptr_t)scratch & 63) == 0 && ((uintptr_t)spare & 63) == 0);
  memset(spare, 0x55, 100);
  memset(scratch, 0x55, fake_scratch);
  const mille_dimension *heads = &out->dimension[2], *rows = &out->dimension[1];
  CHECK(input->dimension[1].extent == keys + 8);
  for (int h = heads->min; code == 0 && h < heads->min + heads->extent; ++h)
    for (int i = rows->min; i < rows->min + rows->extent; ++i)
      for (int c = 0; c < fakeHeadColumns; ++c) {
        scratch[0] = 0;
        for (int j = 0; j < keys; ++j)
          if (*(int32_t *)at(mask, 0, j))
            scratch[0] += ((float *)at(input, 1, j))[h * fakeHeadColumns + c] *
                          (j <= i ? 2 : 1);
        *(float *)(at(out, 2, h) + (at(out, 1, i) - (char *)out->host) +
                   c * 4) = scratch[0];
      }
  mille_task_release(task, spare); /* not in reverse order on purpose */
  mille_task_release(task, scratch);
  return code;
}

#define FOUR(f) f, f, f, f
static const mille_kernel_function embedFunctions[] = {FOUR(embed)},
                                   matmulFunctions[] = {FOUR(matmul)},
                                   addFunctions[] = {FOUR(add)},
                                   attentionFunctions[] = {FOUR(attention)};

static const mille_kernel embedKernel = {"embed",
                                         MILLE_PARTITION_ROWS,
                                         4,
                                         0,
                                         fakeColumns,
                                         1,
                                         0,
                                         0,
                                         100000,
                                         4800,
                                         {-1, 0, 0, 1},
                                         embedFunctions};
static const mille_kernel matmulKernel = {
    "matmul",   MILLE_PARTITION_ROWS, 3, 0, 8, 6, 12, 0, 300000, 3072,
    {1, -1, 1}, matmulFunctions};
static const mille_kernel addKernel = {
    "add",  MILLE_PARTITION_ROWS, 2, 1, fakeHidden, 1, 0, 0, 100000, 0,
    {1, 1}, addFunctions};
static const mille_kernel attentionKernel = {
    "attention", MILLE_PARTITION_SEQUENCES, 3, 1, 2, 8, 0, 4, 1000, 0,
    {1, 0, 1},   attentionFunctions};

/* ---- The run ---- */

void fake_buffer(mille_buffer *buffer, mille_dimension *dimensions, void *host,
                 int32_t columns, int64_t rows, int is_float) {
  memset(buffer, 0, sizeof *buffer);
  buffer->host = host;
  buffer->type_code = is_float ? 2 : 0;
  buffer->type_bits = 32;
  buffer->type_lanes = 1;
  buffer->dimension = dimensions;
  if (columns == 0) { /* [rows] */
    buffer->dimensions = 1;
    dimensions[0] = (mille_dimension){0, (int32_t)rows, 1, 0};
    return;
  }
  buffer->dimensions = 2;
  dimensions[0] = (mille_dimension){0, columns, 1, 0};
  dimensions[1] = (mille_dimension){0, (int32_t)rows, columns, 0};
}

static int32_t forward(mille_run *run) {
  __atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
  int64_t rows = run->token_rows;
  char *arena = run->arena;
  float *x = (float *)arena; /* [rows, 24], [rows, 32], [rows, 32] */
  float *y = (float *)(arena + 128 * run->padded_rows);
  float *z = (float *)(arena + 256 * run->padded_rows);
  mille_buffer buffers[4];
  mille_dimension d[4][4];
  void *weights = (void *)run->weights;

  fake_buffer(&buffers[0], d[0], (char *)weights + run->table[0], fakeColumns,
              fakeVocabulary, 1);
  fake_buffer(&buffers[1], d[1], run->inputs[0], 0, rows, 0);
  fake_buffer(&buffers[2], d[2], run->inputs[2], 0, rows, 0);
  fake_buffer(&buffers[3], d[3], x, fakeColumns, rows, 1);
  mille_stage stage = {&embedKernel, buffers, NULL, 0, NULL, 0, 0, 0, 0};
  int32_t code = mille_launch(run, &stage, 1, rows);
  if (code)
    return code;

  mille_buffer second[2];
  mille_dimension e[2][4];
  int32_t one = 1;
  fake_buffer(&buffers[0], d[0], x, fakeColumns, rows, 1);
  fake_buffer(&buffers[1], d[1], (char *)weights + run->table[1], fakeColumns,
              fakeHidden, 1);
  fake_buffer(&buffers[2], d[2], y, fakeHidden, rows, 1);
  fake_buffer(&second[0], e[0], y, fakeHidden, rows, 1);
  fake_buffer(&second[1], e[1], z, fakeHidden, rows, 1);
  mille_stage stages[2] = {{&matmulKernel, buffers, NULL, 0, NULL, 0, 0, 0, 0},
                           {&addKernel, second, &one, 0, NULL, 0, 0, 0, 0}};
  code = mille_launch(run, stages, 2, rows);
  if (code)
    return code;

  int32_t keys = (int32_t)run->tokens;
  fake_buffer(&buffers[0], d[0], z, fakeHidden, rows, 1);
  fake_buffer(&buffers[1], d[1], run->inputs[1], 0, rows, 0);
  fake_buffer(&buffers[2], d[2], run->outputs[0], fakeHeadColumns, rows, 1);
  buffers[2].dimensions = 3;
  d[2][1].stride = fakeHidden;
  d[2][2] = (mille_dimension){0, fakeHeads, fakeHeadColumns, 0};
  stage = (mille_stage){
      &attentionKernel, buffers, &keys, run->tokens, NULL, 0, 0, 7, 1};
  code = mille_launch(run, &stage, 1, rows);
  if (code)
    return code;
  return mille_pool_mean(run, run->outputs[0], fakeHidden, run->inputs[1],
                         MILLE_RUN_TOKENS, 0, fakeHidden, run->outputs[1],
                         fakeHidden);
}

/* ---- The model ---- */

enum {
  tableAt = 120,
  dataAt = 192,
  weightAt = 4800 + 0, /* 50 * 24 floats are 75 * 64 bytes */
  totalBytes = dataAt + weightAt + 32 * 24 * 4
};
static union {
  char bytes[totalBytes];
  uint64_t aligned;
  mille_weights_header header;
} file;

static float embedValue(int id, int n) { return (float)((id * 7 + n) % 11); }
static float weightValue(int n, int k) { return (float)((n * 5 + k * 3) % 4); }

static void fill(void) {
  if (file.header.version)
    return;
  float *data = (float *)(file.bytes + dataAt);
  for (int id = 0; id < fakeVocabulary; ++id)
    for (int n = 0; n < fakeColumns; ++n)
      data[id * fakeColumns + n] = embedValue(id, n);
  for (int n = 0; n < fakeHidden; ++n)
    for (int k = 0; k < fakeColumns; ++k)
      data[weightAt / 4 + n * fakeColumns + k] = weightValue(n, k);
  uint64_t *table = (uint64_t *)(file.bytes + tableAt);
  table[0] = 0;
  table[1] = weightAt;
  mille_weights_header *header = &file.header;
  memcpy(header->magic, MILLE_WEIGHTS_MAGIC, 8);
  header->version = MILLE_WEIGHTS_VERSION;
  header->total_bytes = totalBytes;
  header->table_offset = tableAt;
  header->table_count = 2;
  header->data_offset = dataAt;
  strcpy(header->model, "fake");
  header->hash =
      mille_weights_hash(MILLE_HASH_START, file.bytes + sizeof *header,
                         totalBytes - sizeof *header);
}

static const mille_isa isas[] = {{"x86-64-v3", MILLE_CPU_AVX2}, {"x86-64", 0}};
static const mille_tensor_info inputs[] = {
    {"input_ids", MILLE_I32, 2, {-1, -2}, MILLE_REQUIRED, 0, fakeVocabulary},
    {"attention_mask", MILLE_I32, 2, {-1, -2}, MILLE_DEFAULT_ONES, 0, 0},
    {"position_ids",
     MILLE_I32,
     2,
     {-1, -2},
     MILLE_DEFAULT_POSITIONS,
     0,
     fakePositions},
    {"step", MILLE_I32, 1, {1}, MILLE_DEFAULT_LAST, 0, 0}};
static const mille_tensor_info outputs[] = {
    {"last_hidden_state", MILLE_F32, 3, {-1, -2, fakeHidden}, 0, 0, 0},
    {"pooler_output", MILLE_F32, 2, {-1, fakeHidden}, 0, 0, 0}};
static const mille_kernel *const kernels[] = {&embedKernel, &matmulKernel,
                                              &addKernel, &attentionKernel};

static const uint64_t placeBytes[] = {fakeVocabulary * fakeColumns * 4,
                                      fakeHidden * fakeColumns * 4};

static const mille_size_info sizes[] = {{"batch", 0},
                                        {"tokens", fakePositions}};
static const mille_entry entry = {.name = "forward",
                                  .forward = forward,
                                  .input_count = 4,
                                  .output_count = 2,
                                  .inputs = inputs,
                                  .outputs = outputs,
                                  .arena_bytes_per_row = 448};
static mille_model model;

uint64_t fake_table_hash(const void *weights) {
  const mille_weights_header *header = weights;
  return mille_weights_hash(MILLE_HASH_START, header + 1,
                            header->data_offset - sizeof *header);
}

const mille_model *fake_padded_model(void) {
  fake_model();
  static mille_model padded;
  static mille_entry removable;
  padded = model;
  removable = entry;
  removable.padding_ends = MILLE_PADDING_AFTER | MILLE_PADDING_BEFORE;
  removable.mask_input = 1;
  padded.entries = &removable;
  return &padded;
}

const mille_model *fake_model(void) {
  model = (mille_model){.abi_version = MILLE_ABI_VERSION,
                        .isa_count = 2,
                        .entry_count = 1,
                        .size_count = 2,
                        .kernel_count = 4,
                        .name = "fake",
                        .isas = isas,
                        .entries = &entry,
                        .sizes = sizes,
                        .kernels = kernels,
                        .token_size = 1,
                        .scratch_bytes = 1200,
                        .weights_bytes = totalBytes,
                        .place_count = 2,
                        .place_bytes = placeBytes};
  fill();
  model.table_hash = fake_table_hash(file.bytes);
  model.weights_hash = file.header.hash;
  return &model;
}

const char *fake_weights(size_t *bytes) {
  fill();
  *bytes = totalBytes;
  return file.bytes;
}

void fake_write(const char *path, const void *data, size_t bytes) {
  FILE *out = fopen(path, "wb");
  CHECK(out && fwrite(data, 1, bytes, out) == bytes && fclose(out) == 0);
}

void fake_write_weights(const char *path) {
  size_t bytes;
  const char *data = fake_weights(&bytes);
  fake_write(path, data, bytes);
}

/* ---- What must come out ---- */

void fake_expected(int64_t batch, int64_t tokens, const int32_t *ids,
                   const int32_t *mask, const int32_t *positions, float *hidden,
                   float *pooled) {
  float *z = malloc(sizeof(float) * batch * tokens * fakeHidden);
  for (int64_t m = 0; m < batch * tokens; ++m)
    for (int n = 0; n < fakeHidden; ++n) {
      float sum = 0;
      int64_t position = positions ? positions[m] : m % tokens;
      for (int k = 0; k < fakeColumns; ++k)
        sum += (embedValue(ids[m], k) + position) * weightValue(n, k);
      z[m * fakeHidden + n] = sum + 1;
    }
  for (int64_t b = 0; b < batch; ++b)
    for (int n = 0; n < fakeHidden; ++n) {
      double mean = 0;
      int64_t seen = 0;
      for (int64_t i = 0; i < tokens; ++i) {
        float sum = 0;
        for (int64_t j = 0; j < tokens; ++j)
          if (!mask || mask[b * tokens + j])
            sum += z[(b * tokens + j) * fakeHidden + n] * (j <= i ? 2 : 1);
        hidden[(b * tokens + i) * fakeHidden + n] = sum;
        if (!mask || mask[b * tokens + i]) {
          mean += sum;
          ++seen;
        }
      }
      pooled[b * fakeHidden + n] = seen ? (float)(mean / seen) : 0;
    }
  free(z);
}

static int isOfForm(const char *text, const char *form) {
  for (; *form; ++form) {
    if (*form != '#') {
      if (*text++ != *form)
        return 0;
      continue;
    }
    if (*text < '0' || *text > '9')
      return 0;
    text += strspn(text, "0123456789");
  }
  return 1;
}

void fake_seen(const char *message, const char *const *forms, unsigned count,
               unsigned *seen) {
  for (const char *at = message; *at; ++at)
    for (unsigned f = 0; f < count; ++f)
      if (isOfForm(at, forms[f])) {
        *seen |= 1u << f;
        return;
      }
  fprintf(stderr, "error: \"%s\" is of none of the forms\n", message);
  exit(1);
}

static int refuseAt, pieces;
static void *allocate(void *user, size_t size, size_t alignment) {
  (void)user;
  char *whole =
      ++pieces == refuseAt ? NULL : malloc(size + alignment + sizeof(void *));
  if (!whole)
    return NULL;
  uintptr_t first = (uintptr_t)whole + sizeof(void *) + alignment - 1;
  void **memory = (void **)(first / alignment * alignment);
  memory[-1] = whole;                        /* C99 frees what malloc gave */
  return memset((void *)memory, 0xcd, size); /* nobody relies on zeros */
}
static void release(void *user, void *memory) {
  (void)user;
  free(((void **)memory)[-1]);
}

void fake_refuse_each(const mille_model *model, const char *device,
                      const char *const *forms, unsigned count,
                      void (*work)(mille_session *session)) {
  enum { own = 3, most = 16 };
  const char *all[most] = {
      "a package needs # bytes but memory was refused",
      "a session needs # bytes but memory was refused",
      ("a session of batch # on # threads needs # bytes but memory was "
       "refused: the machine has #")};
  CHECK(own + count <= most);
  memcpy(all + own, forms, count * sizeof *forms);
  mille_options options = MILLE_OPTIONS_INIT;
  options.allocate = allocate;
  options.release = release;
  const mille_size size = {"batch", 3};
  unsigned seen = 0;
  for (refuseAt = 1;; ++refuseAt) {
    char why[512] = "";
    mille_package *package = NULL;
    mille_session *session = NULL;
    pieces = 0;
    mille_status status =
        mille_package_open(model, NULL, &options, &package, why, sizeof why);
    if (status == MILLE_OK) {
      status = mille_session_create_on(package, &size, 1, 1, device, &session);
      snprintf(why, sizeof why, "%s", mille_package_message(package));
    }
    CHECK((status == MILLE_OK) == (pieces < refuseAt));
    if (status == MILLE_OK) {
      work(session);
    } else {
      CHECK(status == MILLE_OUT_OF_MEMORY);
      fake_seen(why, all, own + count, &seen);
    }
    CHECK(mille_session_close(session) == MILLE_OK);
    CHECK(mille_package_close(package) == MILLE_OK);
    if (status == MILLE_OK)
      break;
  }
  CHECK(seen == (1u << (own + count)) - 1);
}

void fake_expect(const char *file, int line, mille_status status,
                 mille_status expected, const char *message, const char *part) {
  if (status == expected && strstr(message, part))
    return;
  fprintf(stderr, "%s:%d: error: got %s, \"%s\", but expected %s, \"%s\"\n",
          file, line, mille_status_name(status), message,
          mille_status_name(expected), part);
  exit(1);
}

mille_package *fake_open(const mille_model *model) {
  mille_package *package = NULL;
  char why[512] = "";
  EXPECT(mille_package_open(model, NULL, NULL, &package, why, sizeof why),
         MILLE_OK, why, "");
  return package;
}
