/* What generated code and the runtime say to each other. Private: applications
 * see mille.h. Plain C without function bodies; the structs that generated code
 * fills or reads are in abi.def. Bump MILLE_ABI_VERSION with any change. */
#ifndef MILLE_ABI_H
#define MILLE_ABI_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define MILLE_ABI_VERSION 9

/* ---- Words of the structs ------------------------------------------------ */

enum {
  MILLE_I32 = 0,
  MILLE_F32 = 1,
  MILLE_BF16 = 2,
  MILLE_I8 = 3,
  MILLE_U8 = 4
};

/* What an element of a buffer is, beside its bits. */
enum {
  MILLE_CODE_INT = 0,
  MILLE_CODE_UINT = 1,
  MILLE_CODE_FLOAT = 2,
  MILLE_CODE_BFLOAT = 4
};

enum {
  MILLE_PARTITION_ROWS = 0,     /* tasks are ranges of rows and of columns */
  MILLE_PARTITION_SEQUENCES = 1 /* tasks are sequences x ranges of heads */
};

#define MILLE_MAX_BUFFERS 16
#define MILLE_MAX_DIMENSIONS 4
#define MILLE_MAX_SCALARS 16
#define MILLE_MAX_SIZES 8
#define MILLE_MAX_STATES 64
#define MILLE_NO_SIZE UINT32_MAX

enum {
  MILLE_REQUIRED = 0,
  MILLE_DEFAULT_ONES = 1,
  MILLE_DEFAULT_ZEROS = 2,
  MILLE_DEFAULT_POSITIONS = 3, /* 0, 1, ... in each sequence */
  MILLE_DEFAULT_LAST = 4       /* INT32_MAX: a schedule's end */
};

enum { MILLE_PADDING_AFTER = 1, MILLE_PADDING_BEFORE = 2 };

enum {
  MILLE_CPU_AVX2 = 1 << 0,   /* with fma, f16c, bmi2 */
  MILLE_CPU_AVX512 = 1 << 1, /* f, bw, cd, dq, vl */
  MILLE_CPU_AVX512_BF16 = 1 << 2,
  MILLE_CPU_AVX512_VNNI = 1 << 3,
  MILLE_CPU_AVX512_VBMI2 = 1 << 4, /* with ifma, vbmi, bitalg */
  MILLE_CPU_AMX = 1 << 5           /* tile, bf16, int8 */
};

/* A kind of devices: see Backend.h. The runtime's own are in Backends.h. */
typedef struct mille_backend mille_backend;

/* ---- The structs: abi.def ------------------------------------------------ */

#define MILLE_STRUCT(NAME) typedef struct mille_##NAME mille_##NAME;
#include "abi.def"

typedef int32_t (*mille_kernel_function)(void **arguments);
typedef int32_t (*mille_forward_function)(mille_run *run);

/* clang-format off */
#define MILLE_STRUCT(NAME) struct mille_##NAME {
#define MILLE_FIELD(TYPE, NAME) TYPE NAME;
#define MILLE_ARRAY(TYPE, NAME, COUNT) TYPE NAME[COUNT];
#define MILLE_END(NAME) };
/* clang-format on */
#include "abi.def"

/* ---- Which runtime ------------------------------------------------------- */

/* NAME.a and NAME.so hold a runtime of their own: a package is opened, and its
 * sessions run, by the runtime that the model's code is linked with (who loads
 * NAME.so with dlopen takes mille_* from it by dlsym).
 *
 * Halide's code refers to halide_malloc, halide_free and halide_error_*. They
 * are in libmille_kernel_support.a (KernelSupport.cpp) and call mille_task_*
 * below; link merges it into the model's object and makes all halide_* symbols
 * local. The runtime itself defines none. */

/* ---- Kernels ------------------------------------------------------------- */

/* A mille_kernel_function is serial: it computes the range that its out buffer
 * names and reads of its inputs what that needs. Its arguments, as Halide's
 * NAME_argv takes them:
 *   [0] pointer to the user context (arguments[0] is a mille_task **)
 *   [1 .. buffers - 1] the input buffers, in the order of the kernel op's
 *   operands then pointers to int32 scalars
 *   last: the out buffer.
 * Returns 0, or a negative code with the text in the task.
 *
 * What a task's buffers look like (generated code gives whole ones, minima 0
 * and row extents exact; the runtime cuts them):
 *   rows: every buffer with a row dimension starts at the task's first row, its
 *     row minimum is 0, its row extent the task's rows. The out's dimension 0
 *     has the task's columns: minimum >= 0, a multiple of column_unit. Over
 *     several panels a kernel's own order is panels outside, row blocks inside.
 *     A buffer with k times the launch's rows (slots of experts) is cut at k
 *     times the row.
 *   sequences: every buffer with a row dimension starts at the sequence's first
 *     row, row minimum 0; an input's row extent is its rows / sequences and 8
 *     more, which may be read but must not matter (keys may be more or fewer
 *     than queries, and windows are sequences too). The out's dimension 2 has
 *     the task's heads, and its rows may be a block of the sequence's: minimum
 *     >= 0, a multiple of row_unit, so query i is row i of the out. */

/* Stages of one launch run row by row in one task where each thread gets so
 * many rows; with fewer, every task would read all weights for little, and each
 * stage is cut by columns. Plan's remarks say it for each launch. In tile
 * registers several threads never do with narrow weights. */
#define MILLE_OWNED_ROWS 48

/* ---- A run --------------------------------------------------------------- */

/* What a kernel sees as its user context. */
typedef struct mille_task mille_task;

/* Heap temporaries of a kernel, from the thread's scratch: 64-byte aligned;
 * null (and the task has failed) beyond it. Each costs 128 bytes more than its
 * size, which the session adds for up to 16 at a time. */
void *mille_task_allocate(mille_task *task, size_t bytes);
void mille_task_release(mille_task *task, void *memory);
/* Keeps the sentence of the first failure of a run. Returns code. */
int32_t mille_task_fail(mille_task *task, int32_t code, const char *format,
                        ...);

/* What a device's kernels are handed over as. A back end says which of these it
 * takes. */
enum {
  MILLE_MODULE_OPENCL_TEXT = 0, /* OpenCL C 1.2 */
  MILLE_MODULE_PTX = 1,
  MILLE_MODULE_CUBIN = 2
};

/* A kernel for a device is host code that asks for work-groups of items. The
 * module with its entries comes first, then each dispatch. A text need not end
 * with a NUL. A buffer argument is two to the entry: a memory object, and the
 * place of its first byte there; by experts two more, bytes from a row and from
 * an expert's entry to the next, but for `starts`, which is the last buffer
 * before the out. */
typedef struct {
  const char *entry;
  int64_t groups[3], items[3];
  int64_t local_bytes;
  const size_t *sizes;    /* of the arguments; 0 ends them */
  void *const *arguments; /* a mille_buffer, or where the bytes are */
  const int8_t *is_buffer;
} mille_dispatch;
int32_t mille_device_module(mille_task *task, uint32_t kind, const void *bytes,
                            size_t size);
int32_t mille_device_run(mille_task *task, const mille_dispatch *dispatch);
/* Device memory for a buffer until it is released or the kernel returns. */
int32_t mille_device_allocate(mille_task *task, mille_buffer *buffer);
int32_t mille_device_release(mille_task *task, mille_buffer *buffer);

/* Runs the stages of one launch over `rows` rows (MILLE_PARTITION_ROWS), or
 * over the run's sequences. 0, or the code of the first task that failed, or
 * MILLE_CANCELLED's code. Called by generated code only. */
int32_t mille_launch(mille_run *run, const mille_stage *stages, int32_t count,
                     int64_t rows);

/* What the runtime does by itself. Rows of a buffer are row_stride floats
 * apart; index buffers and [rows, 1] are contiguous. `tokens` are those of one
 * sequence; MILLE_RUN_TOKENS are the run's, of which a sequence may have fewer
 * where padding was removed. A mask that is null is all ones. */
enum { MILLE_RUN_TOKENS = -1 };

/* out[m]: n cosines, n sines; in double, factor after. Where the run's largest
 * position + 1 is above `after` > 0, long_frequencies take the place of
 * frequencies, or, where they are null, frequency i is divided by
 * s^(i / (n - 1)), s = stretch * length / after - (stretch - 1). */
void mille_rotation(mille_run *run, const int32_t *positions, int64_t rows,
                    const double *frequencies, int64_t n, double factor,
                    int64_t after, double stretch,
                    const double *long_frequencies, float *out,
                    int64_t row_stride);
/* out[m, h] = factor * bf16(bf16(slopes[h]) * positions[m]) */
void mille_alibi(mille_run *run, const int32_t *positions, int64_t rows,
                 const double *slopes, int64_t heads, double factor, float *out,
                 int64_t row_stride);
enum { MILLE_LOG_KEYS = 0, MILLE_LOG_POSITION = 1, MILLE_LOG_FLOOR = 2 };
/* A factor per query, from a transformer.length_scale: numbers are base, floor,
 * beta, period, offset; causal, window_left and window_right (0: none) say
 * which keys a query sees. past: null, or the mask is a state's. */
void mille_query_scale(mille_run *run, int32_t kind, const double *numbers,
                       const int32_t *positions, const int32_t *mask,
                       int64_t rows, int64_t tokens, int32_t causal,
                       int64_t window_left, int64_t window_right,
                       const int32_t *past, int64_t state_rows, float *out);
/* out[0] = what schedule number `schedule` of the model gives at *step, or what
 * the session was told. */
void mille_schedule(mille_run *run, int32_t schedule, const int32_t *step,
                    float *out);
/* numbers[0 .. n - 1] for each sequence. */
void mille_token_numbers(mille_run *run, const int32_t *numbers, int64_t n,
                         int32_t *out);
/* first / each, (first + 1) / each, ... at what counts in each sequence, 0
 * elsewhere: ids that are not `padding`, or, with padded 0, not 0. past: null,
 * or the ids are a state's, and out has a row for each token of the run. */
void mille_count_tokens(mille_run *run, const int32_t *ids, int64_t rows,
                        int64_t tokens, int32_t padded, int32_t padding,
                        int32_t first, int32_t each, const int32_t *past,
                        int64_t state_rows, int32_t *out);
/* index: of `count` tokens of a sequence, -1 for zeros; `group` are one row. */
void mille_gather_tokens(mille_run *run, const float *input,
                         int64_t input_stride, int64_t columns,
                         const int32_t *index, int64_t count, int64_t group,
                         int64_t tokens, float *out, int64_t out_stride);
/* numbers: c, h, w, kh, kw, stride y x, padding y x, prefix. */
void mille_patches(mille_run *run, const float *pixels, int64_t pixel_stride,
                   const int32_t *numbers, float *out, int64_t out_stride);
/* Output number `output`, [batch, batch] = left * right^T; as if summed in
 * double. */
void mille_similarity(mille_run *run, const float *left, int64_t left_stride,
                      const float *right, int64_t right_stride, int64_t columns,
                      int32_t output);
enum { MILLE_MOST_EXPERTS = 1024 };
enum { MILLE_SCORE_SOFTMAX = 0, MILLE_SCORE_SIGMOID = 1 };
enum {
  MILLE_GROUP_MAX = 0,
  MILLE_GROUP_SUM_TOP2 = 1 /* the sum of the two largest */
};
/* numbers: entries, k, score (MILLE_SCORE_*), groups, top_groups, group_score
 * (MILLE_GROUP_*), renormalised, softmax_chosen.
 * bias: [entries], or null. weights [rows, k], order and place [rows * k],
 * starts [entries + 1]. */
void mille_route(mille_run *run, const int32_t *numbers, double epsilon,
                 double factor, const float *logits, int64_t logits_stride,
                 const float *bias, int64_t rows, float *weights,
                 int64_t weights_stride, int32_t *order, int32_t *place,
                 int32_t *starts);
enum {
  MILLE_POOL_FIRST = 0,     /* token skip */
  MILLE_POOL_LAST = 1,      /* the last one that the mask does not hide */
  MILLE_POOL_FIRST_ID = 3,  /* of that id; token 0 where none is */
  MILLE_POOL_HIGHEST_ID = 4 /* the first of the largest id */
};
/* mask: or ids, for the last two kinds. 0, or MILLE_INVALID_ARGUMENT where a
 * sequence has not more than `skip` tokens. */
int32_t mille_pool_index(mille_run *run, const int32_t *mask, int64_t tokens,
                         int32_t kind, int64_t skip, int64_t id, int32_t *out);
int32_t mille_pool_mean(mille_run *run, const float *input,
                        int64_t input_stride, const int32_t *mask,
                        int64_t tokens, int64_t skip, int64_t columns,
                        float *out, int64_t out_stride);
/* Copies rows x columns to entry `index` of output number `output`. */
void mille_keep(mille_run *run, const float *input, int64_t input_stride,
                int64_t rows, int64_t columns, int32_t output, int64_t index);

/* States. past [batch]: the rows of each sequence that its state holds before
 * the run. A sequence has state_rows rows of an entry's buffer. */

/* Writes each sequence's rows of the run behind those that its state holds, and
 * leaves out those for which it has no room. Strides in bytes. */
void mille_remember(mille_run *run, const void *input, int64_t input_stride,
                    int64_t row_bytes, const int32_t *past, int64_t state_rows,
                    void *entry);
/* The same of `heads` heads of `size` elements each, in panels of keys or else
 * of values (StatePanels.h); input_stride in elements. The other row of a
 * value's last pair becomes 0. */
void mille_remember_panels(mille_run *run, const void *input,
                           int64_t input_stride, int32_t keys, int64_t heads,
                           int64_t size, int64_t element_bytes,
                           const int32_t *past, int64_t state_rows,
                           void *entry);
/* out[m]: the place of the run's token m in its sequence. */
void mille_positions(mille_run *run, const int32_t *past, int64_t rows,
                     int32_t *out);
/* Linear attention, token by token: per sequence and head the entry holds a sum
 * [head_dim, value_dim] of f32, which is zero where past is 0.
 * numbers: heads, kv_heads, head_dim, value_dim, the first columns of query,
 * key and value. */
void mille_linear_attention(mille_run *run, const float *query,
                            int64_t query_stride, const float *key,
                            int64_t key_stride, const float *value,
                            int64_t value_stride, const int32_t *mask,
                            const int32_t *numbers, double scale,
                            const float *decay, const int32_t *past,
                            float *entry, float *out, int64_t out_stride);

/* What this CPU and its operating system have; a feature's name, or null. Asks
 * Linux to
   keep AMX's registers for this process, where it has them. */
uint64_t mille_cpu_features(void);
const char *mille_cpu_feature_name(uint64_t feature);

/* ---- The weights file ---------------------------------------------------- */
/* header | table (u64, table_count) | tensors, each 64-byte aligned. Nothing
 * else lies between. A table is compared, entry by entry, with what the code
 * reads before anything is read at its places.
 * Every kernel.weight outside `layers` has one table entry; a `layers` op has a
 * block: per layer, the number of its body, then an entry per distinct weight
 * op of that body (rows are as long as the longest body's). */
#define MILLE_WEIGHTS_MAGIC "MILLEWT\1"
#define MILLE_WEIGHTS_VERSION 1
typedef struct {
  char magic[8];
  uint32_t version, reserved;
  /* hash: FNV-1a-64 over 8-byte words after the header */
  uint64_t total_bytes, hash;
  uint64_t table_offset, table_count;
  uint64_t data_offset; /* mille_run.weights points here */
  char model[64];       /* name, NUL-terminated */
} mille_weights_header;

/* The hash so far, of `bytes` more bytes; start with MILLE_HASH_START. All
 * pieces but the last are multiples of 8; the last word is filled up with
 * zeros. */
#define MILLE_HASH_START 14695981039346656037ull
uint64_t mille_weights_hash(uint64_t hash, const void *data, uint64_t bytes);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
