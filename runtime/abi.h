/* What generated code and the runtime say to each other. Private: applications
 * see mille.h. Plain C, no function bodies, so that compiler/lower can mirror
 * every struct as an LLVM type. Bump MILLE_ABI_VERSION with any change. */
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

#define MILLE_ABI_VERSION 7

/* ---- Buffers: the layout of halide_buffer_t, 56 bytes -------------------- */

typedef struct {
  int32_t min, extent, stride; /* in elements; dimension 0 is the innermost */
  uint32_t flags;
} mille_dimension;

enum {
  MILLE_I32 = 0,
  MILLE_F32 = 1,
  MILLE_BF16 = 2,
  MILLE_I8 = 3,
  MILLE_U8 = 4
};

typedef struct {
  uint64_t device;
  const void *device_interface;
  void *host; /* address of the element at the minimum of every dimension */
  uint64_t flags;
  uint8_t type_code, type_bits; /* 0 int, 1 uint, 2 float, 4 bfloat */
  uint16_t type_lanes;
  int32_t dimensions;
  mille_dimension *dimension;
  void *padding;
} mille_buffer;

/* ---- Which runtime ------------------------------------------------------- */

/* NAME.a and NAME.so hold a runtime of their own: a package is opened, and its
 * sessions run, by the runtime that the model's code is linked with (who loads
 * NAME.so with dlopen takes mille_* from it by dlsym).
 *
 * Halide's code refers to halide_malloc, halide_free and halide_error_*. They
 * are in libmille_kernel_support.a (KernelSupport.cpp) and call mille_task_*
 * above; link merges it into the model's object and makes all halide_* symbols
 * local. The runtime itself defines none. */

/* ---- Kernels ------------------------------------------------------------- */

/* A kernel is serial: it computes the range that its out buffer names and reads
 * of its inputs what that needs. Its arguments, as Halide's NAME_argv takes
 * them:
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
typedef int32_t (*mille_kernel_function)(void **arguments);

enum {
  MILLE_PARTITION_ROWS = 0,     /* tasks are ranges of rows and of columns */
  MILLE_PARTITION_SEQUENCES = 1 /* tasks are sequences x ranges of heads */
};

/* Stages of one launch run row by row in one task where each thread gets so
 * many rows; with fewer, every task would read all weights for little, and each
 * stage is cut by columns. Plan's remarks say it for each launch. In tile
 * registers several threads never do with narrow weights. */
#define MILLE_OWNED_ROWS 48

#define MILLE_MAX_BUFFERS 16
#define MILLE_MAX_DIMENSIONS 4
#define MILLE_MAX_SCALARS 16

/* A kernel as the object describes it: constant data, one per distinct kernel.
 * Row-wise buffers have dimensions (column, row); weights are whole. In
 * attention, inputs have dimensions (column, row) too and the out
 * (column in head, row, head): a task gets a sequence's rows and some heads. */
typedef struct {
  const char *name;      /* mille_k_<hash>, for bench and messages */
  uint32_t partition;    /* MILLE_PARTITION_* */
  uint32_t buffer_count; /* inputs + out */
  uint32_t scalar_count;
  /* columns (or heads) of a task: a multiple of this; equal to the width where
   * columns cannot be split */
  uint32_t column_unit;
  /* rows of a register tile: tasks start at multiples */
  uint32_t row_unit;
  /* up to this many rows variant 0 runs, above it 1, which is right for more
   * rows only */
  uint32_t few_rows;
  /* attention: keys that are added up together: a multiple of them may be left
   * out before a sequence's tokens where all are hidden; 0: any number */
  uint32_t key_unit;
  uint64_t flops_per_row; /* for bench; attention: per row and key */
  uint64_t bytes_weights; /* weights read once per launch; for bench */
  /* row dimension of each buffer, -1: whole (weights, tables, scalars); where
   * the out's is -1 only columns are cut */
  int8_t row_dimension[MILLE_MAX_BUFFERS];
  /* functions[isa * 2 + few-or-many], isa in the order of mille_model.isas */
  const mille_kernel_function *functions;
} mille_kernel;

/* One kernel of a launch with its operands, built by generated code. */
typedef struct {
  const mille_kernel *kernel;
  mille_buffer *buffers; /* kernel->buffer_count, the out last */
  const int32_t *scalars;
  /* MILLE_PARTITION_SEQUENCES: rows of the out in each */
  int64_t sequence_rows;
  /* Experts: rows starts[e] to starts[e + 1] - 1 take entry e of the buffers
   * whose bit is set in `stacked`. These have one dimension more than the
   * kernel knows of, the outermost, which the runtime takes off. Null: no
   * experts. */
  const int32_t *starts;
  int64_t entries;
  uint64_t stacked;
  /* Bit b: buffer b has a row per token of the run; scalar b is the number of a
   * sequence's tokens. Where padding was removed each sequence has its own. */
  uint32_t token_buffers, token_scalars;
} mille_stage;

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

/* A kernel for a device is host code that asks for work-groups of items. The
 * text of its entries comes first, then each dispatch. A buffer argument is two
 * to the entry: a memory object, and the place of its first byte there; by
 * experts two more, bytes from a row and from an expert's entry to the next,
 * but for `starts`, which is the last buffer before the out. */
typedef struct {
  const char *entry;
  int64_t groups[3], items[3];
  int64_t local_bytes;
  const size_t *sizes;    /* of the arguments; 0 ends them */
  void *const *arguments; /* a mille_buffer, or where the bytes are */
  const int8_t *is_buffer;
} mille_dispatch;
int32_t mille_device_source(mille_task *task, const char *text);
int32_t mille_device_run(mille_task *task, const mille_dispatch *dispatch);
/* Device memory for a buffer until it is released or the kernel returns. */
int32_t mille_device_allocate(mille_task *task, mille_buffer *buffer);
int32_t mille_device_release(mille_task *task, mille_buffer *buffer);

/* What generated code sees of a run. The runtime's own struct starts with it */
typedef struct {
  int64_t batch, tokens;  /* rows are token_rows, */
  int64_t decoder_tokens; /* batch * decoder_tokens, or batch * fixed ones */
  int64_t token_rows;     /* batch * tokens, less removed padding */
  /* rows a kernel.arena offset is multiplied by: of the largest of these */
  int64_t padded_rows;
  char *arena;           /* 64-byte aligned */
  const char *weights;   /* start of the weights data */
  const uint64_t *table; /* offsets into it; see mille_model */
  /* in the order of mille_model.inputs; never null: an absent input holds its
   * default */
  void *const *inputs;
  float *const *outputs; /* in the order of mille_model.outputs */
} mille_run;

/* Runs the stages of one launch over `rows` rows (MILLE_PARTITION_ROWS), or
 * over the run's sequences. 0, or the code of the first task that failed, or
 * MILLE_CANCELLED's code. Called by generated code only. */
int32_t mille_launch(mille_run *run, const mille_stage *stages, int32_t count,
                     int64_t rows);

/* What the runtime does by itself. Rows of a buffer are row_stride floats
 * apart; index buffers and [rows, 1] are contiguous. `tokens` are those of one
 * sequence; MILLE_TOKENS (-2) are the run's, of which a sequence may have fewer
 * where padding was removed. A mask that is null is all ones. */

void mille_key_bias(mille_run *run, const int32_t *mask, int64_t rows,
                    float *out);
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
 * which keys a query sees. */
void mille_query_scale(mille_run *run, int32_t kind, const double *numbers,
                       const int32_t *positions, const int32_t *mask,
                       int64_t rows, int64_t tokens, int32_t causal,
                       int64_t window_left, int64_t window_right, float *out);
/* out[0] = what schedule number `schedule` of the model gives at *step, or what
 * the session was told. */
void mille_schedule(mille_run *run, int32_t schedule, const int32_t *step,
                    float *out);
/* numbers[0 .. n - 1] for each sequence. */
void mille_token_numbers(mille_run *run, const int32_t *numbers, int64_t n,
                         int32_t *out);
/* first / each, (first + 1) / each, ... at what counts in each sequence, 0
 * elsewhere: ids that are not `padding`, or, with padded 0, not 0. */
void mille_count_tokens(mille_run *run, const int32_t *ids, int64_t rows,
                        int64_t tokens, int32_t padded, int32_t padding,
                        int32_t first, int32_t each, int32_t *out);
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
/* numbers: entries, k, score (0 softmax, 1 sigmoid), groups, top_groups,
 * group_score (0 max, 1 sum of the two largest), renormalised, softmax_chosen.
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

/* ---- A model: constant data in the object -------------------------------- */

typedef struct {
  const char *name;
  uint32_t type; /* MILLE_I32 or MILLE_F32 */
  uint32_t rank;
  int64_t shape[4];  /* >= 0 fixed; -1 batch; -2 tokens; -3 decoder tokens */
  uint32_t fallback; /* inputs: MILLE_REQUIRED, MILLE_DEFAULT_* */
  uint32_t reserved;
  int64_t below; /* inputs: exclusive upper bound of ids, 0: none */
} mille_tensor_info;

enum {
  MILLE_REQUIRED = 0,
  MILLE_DEFAULT_ONES = 1,
  MILLE_DEFAULT_ZEROS = 2,
  MILLE_DEFAULT_POSITIONS = 3, /* 0, 1, ... in each sequence */
  MILLE_DEFAULT_LAST = 4       /* INT32_MAX: a schedule's end */
};

/* from + (to - from) * min(step, steps) / steps; steps > 0. */
typedef struct {
  const char *name;
  double from, to;
  int64_t steps;
} mille_schedule_info;

/* Where a `layers` op's block lies in the weights' table: for each layer the
 * number of its body, then entries; see the weights file. */
typedef struct {
  uint64_t first_entry, row_entries; /* of a layer, with its body's number */
  uint64_t layers;
} mille_stack_info;

enum { MILLE_PADDING_AFTER = 1, MILLE_PADDING_BEFORE = 2 };

/* A kind of devices: see Backend.h. */
typedef struct mille_backend mille_backend;
extern const mille_backend mille_opencl_backend;

typedef struct {
  const char *name;             /* "x86-64-v3", "zen4", "opencl" */
  uint64_t features;            /* MILLE_CPU_* all needed */
  const mille_backend *backend; /* of devices; null: this CPU */
} mille_isa;

enum {
  MILLE_CPU_AVX2 = 1 << 0,   /* with fma, f16c, bmi2 */
  MILLE_CPU_AVX512 = 1 << 1, /* f, bw, cd, dq, vl */
  MILLE_CPU_AVX512_BF16 = 1 << 2,
  MILLE_CPU_AVX512_VNNI = 1 << 3,
  MILLE_CPU_AVX512_VBMI2 = 1 << 4, /* with ifma, vbmi, bitalg */
  MILLE_CPU_AMX = 1 << 5           /* tile, bf16, int8 */
};

/* What this CPU and its operating system have; a feature's name, or null. Asks
 * Linux to
   keep AMX's registers for this process, where it has them. */
uint64_t mille_cpu_features(void);
const char *mille_cpu_feature_name(uint64_t feature);

typedef struct mille_model {
  uint32_t abi_version;
  uint32_t isa_count; /* best first */
  uint32_t input_count, output_count;
  uint32_t kernel_count;
  /* of a sequence; learned positions: their table's; 0: any */
  uint32_t max_tokens;
  const char *name;
  const mille_isa *isas;
  const mille_tensor_info *inputs, *outputs;
  const mille_kernel *const *kernels;
  uint64_t arena_bytes_per_row;     /* times padded rows */
  uint64_t scratch_bytes;           /* per thread: scratch_bytes + */
  uint64_t scratch_bytes_per_token; /*   this * the most rows of a sequence */
  uint64_t weights_bytes;           /* size of the weights file */
  uint64_t weights_hash;            /* of its bytes after the header */
  const void *weights;              /* embedded, or null */
  int32_t (*forward)(mille_run *run);
  uint32_t max_decoder_tokens; /* as max_tokens, of the decoder */
  /* the most rows per sequence that no size of a run changes (patches,
   * windows); 0: none */
  uint32_t fixed_tokens;
  uint32_t slots; /* the most rows of a buffer per row (experts); 0: 1 */
  uint32_t schedule_count;
  const mille_schedule_info *schedules;
  /* Rows that input `mask_input` [batch, tokens] hides at these ends of a
   * sequence matter to no other row, so that the runtime may remove them. 0: no
   * such input */
  uint32_t padding_ends; /* MILLE_PADDING_* */
  uint32_t mask_input;
  uint64_t stack_count;
  /* all other entries of the table are places */
  const mille_stack_info *stacks;
} mille_model;

/* ---- The weights file ---------------------------------------------------- */
/* header | table (u64, table_count) | tensors, each 64-byte aligned.
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
