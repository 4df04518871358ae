/* What generated code and the runtime say to each other. Private: applications
 * see mille.h. Plain C; structs of generated code are in abi.def. Bump
 * MILLE_ABI_VERSION with any change of these, or of what that code calls. */
#ifndef MILLE_ABI_H
#define MILLE_ABI_H
#include "abi_cpu.h"
#include "abi_device.h"
#include "abi_weights.h"

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define MILLE_ABI_VERSION 18

/* ---- Words of the structs ------------------------------------------------ */

enum {
  MILLE_I32 = 0,
  MILLE_F32 = 1,
  MILLE_BF16 = 2,
  MILLE_I8 = 3,
  MILLE_U8 = 4,
  MILLE_F16 = 5
};

/* The kind of a buffer's elements; type_bits says how many bits each has. */
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
#define MILLE_MAX_SIZES 24
#define MILLE_MAX_STATES 64
#define MILLE_NO_SIZE UINT32_MAX
#define MILLE_NO_INPUT UINT32_MAX

enum {
  MILLE_REQUIRED = 0,
  MILLE_DEFAULT_ONES = 1,
  MILLE_DEFAULT_ZEROS = 2,
  MILLE_DEFAULT_POSITIONS = 3, /* 0, 1, ... in each sequence */
  MILLE_DEFAULT_LAST = 4       /* INT32_MAX: a schedule's end */
};

enum { MILLE_PADDING_AFTER = 1, MILLE_PADDING_BEFORE = 2 };

enum {
  MILLE_OPTIMIZER_SGD = 0, /* with momentum where `first` is not 0 */
  MILLE_OPTIMIZER_ADAM = 1,
  MILLE_OPTIMIZER_ADAMW = 2,
  MILLE_OPTIMIZER_LAMB = 3,
  MILLE_OPTIMIZER_LION = 4
};

enum {
  MILLE_RATE_CONSTANT = 0,
  MILLE_RATE_LINEAR = 1,
  MILLE_RATE_COSINE = 2,
  MILLE_RATE_INVERSE_SQRT = 3
};

/* Where a parameter's initial values come from. */
enum {
  MILLE_DRAW_FROM_FILE = 0,
  MILLE_DRAW_FIXED = 1, /* the mean */
  MILLE_DRAW_UNIFORM = 2,
  MILLE_DRAW_NORMAL = 3,
  MILLE_DRAW_TRUNCATED_NORMAL = 4
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

/* NAME.a and NAME.so each contain a copy of the runtime. A package must be
 * opened and run by the copy that its code is linked with: an application that
 * loads NAME.so with dlopen takes the mille_* functions from it by dlsym.
 *
 * Halide's code refers to halide_malloc, halide_free and halide_error_*.
 * libmille_kernel_support.a (KernelSupport.cpp) defines them by calls of the
 * mille_task_* functions below. The link stage merges that library into the
 * model's object and makes all halide_* symbols local. The runtime itself
 * defines none. */

/* ---- Kernels ------------------------------------------------------------- */

/* A mille_kernel_function runs on one thread. It computes the range of its out
 * buffer and reads only the parts of its inputs that this range needs. The
 * arguments are those of Halide's NAME_argv:
 *   [0] pointer to the user context (arguments[0] is a mille_task **)
 *   [1 .. buffers - 1] the input buffers, in the order of the kernel op's
 *     operands
 *   then pointers to int32 scalars
 *   last: the out buffer.
 * It returns 0, or a negative code, and leaves the error text in the task.
 *
 * Generated code passes whole buffers (minima 0, exact row extents), and the
 * runtime cuts them into tasks. A task by rows:
 *     Every buffer with a row dimension starts at the task's first row. Its row
 *     minimum is 0 and its row extent is the task's rows. Dimension 0 of the
 *     out covers the task's columns; its minimum is >= 0 and a multiple of
 *     column_unit. Where a task has several panels, the kernel loops over
 *     panels outside and over blocks of rows inside. A buffer with k times the
 *     launch's rows (slots of experts) is cut at k times the row.
 * A task by sequences (a window counts as a sequence):
 *     Every buffer with a row dimension starts at the sequence's first row. Its
 *     row minimum is 0. An input's row extent is rows / sequences + 8: the
 *     kernel may read the 8 further rows, but no result may depend on them.
 *     The number of keys may differ from the number of queries. Dimension 2 of
 *     the out covers the task's heads. The rows of the out may be a block of
 *     the sequence's; their minimum is >= 0 and a multiple of row_unit, so
 *     query i is row i of the out. */

/* Sequences may hold rows of a state in common, so a panel of a sequence's keys
 * and values (StatePanels.h) may lie where another sequence has that panel.
 * With mille_kernel.panels a kernel on a CPU has one input more, after all
 * others and before the scalars: i32, for each panel how many sequences further
 * on than the buffer's it lies. Variant 0 has it too, the join does not. */

/* Where keys are taken apart (mille_kernel.stretch_keys), variant 0 has four
 * dimensions in its outs, column, row, head and stretch, and two of them, f32:
 * the values that each stretch mixes by weights of its own, and its largest
 * score in even columns, its sum of weights in odd ones. The join's inputs are
 * the kernel's and these two, its scalars and its out the kernel's. */

/* If each thread gets at least this many rows, a task runs all stages of a
 * launch on its rows, one stage after the other. With fewer rows every task
 * would read all weights for little work, so the runtime cuts each stage by
 * columns instead. Plan's remarks give the choice for each launch. Launches of
 * several threads on AMX tiles with narrow weights are always cut by
 * columns. */
#define MILLE_OWNED_ROWS 48

/* ---- A run --------------------------------------------------------------- */

/* What a kernel sees as its user context. */
typedef struct mille_task mille_task;

/* A kernel's temporary memory, taken from the thread's scratch and 64-byte
 * aligned. If the scratch is full, the result is null and the task has failed.
 * Each allocation takes 128 bytes more than its size; a session reserves these
 * for 16 allocations at a time. */
void *mille_task_allocate(mille_task *task, size_t bytes);
void mille_task_release(mille_task *task, void *memory);
/* Stores the message if it is the run's first failure. Returns code. */
int32_t mille_task_fail(mille_task *task, int32_t code, const char *format,
                        ...);

/* The forms of a device's code. A back end says which of these it accepts. */
enum {
  MILLE_MODULE_OPENCL_TEXT = 0, /* OpenCL C 1.2 */
  MILLE_MODULE_PTX = 1,
  MILLE_MODULE_CUBIN = 2
};

/* A kernel for a device is host code that calls mille_device_module once with
 * the device's code and then mille_device_run for each dispatch of work-groups.
 * A text need not end with a NUL. Each buffer argument becomes two arguments of
 * the entry: the memory object, and the offset of the first byte in it. For
 * experts there are two more: the bytes from one row to the next, and from one
 * expert's part of the buffer to the next. `starts`, the last buffer before the
 * out, has no such two. A kernel of sequences whose keys are a state's has one
 * buffer more before the out: i32, the rows that the state of each sequence
 * holds before the run. Its state is in rows: [sequences, rows, columns]. */
typedef struct {
  const char *entry;
  int64_t groups[3], items[3];
  int64_t local_bytes;
  const size_t *sizes;    /* bytes of each argument; 0 ends the list */
  void *const *arguments; /* a mille_buffer, or the address of a scalar */
  const int8_t *is_buffer;
} mille_dispatch;
int32_t mille_device_module(mille_task *task, uint32_t kind, const void *bytes,
                            size_t size);
int32_t mille_device_run(mille_task *task, const mille_dispatch *dispatch);
/* arguments: those of a mille_kernel_function after the task. */
int32_t mille_device_launch(mille_task *task, const mille_device_kernel *kernel,
                            void *const *arguments);

/* Device memory for a buffer. It lives until it is released or the kernel
 * returns. */
int32_t mille_device_allocate(mille_task *task, mille_buffer *buffer);
int32_t mille_device_release(mille_task *task, mille_buffer *buffer);

/* Runs the stages of one launch over `rows` rows (MILLE_PARTITION_ROWS), or
 * over the run's sequences. Returns 0, or the code of the first task that
 * failed, or MILLE_CANCELLED's code. Only generated code calls it. */
int32_t mille_launch(mille_run *run, const mille_stage *stages, int32_t count,
                     int64_t rows);

/* The operations that the runtime computes without a generated kernel. Rows of
 * a buffer are row_stride floats apart; index buffers and buffers of shape
 * [rows, 1] are contiguous. `tokens` is the number of tokens of one sequence.
 * MILLE_RUN_TOKENS says that it is the run's size `tokens`; where padding was
 * removed a sequence may have fewer. A null mask is all ones. */
enum { MILLE_RUN_TOKENS = -1 };

/* Row m of out holds n cosines, then n sines, computed in double and multiplied
 * by factor at the end. Let length be the run's largest position + 1. If
 * `after` > 0 and length > after, long_frequencies replace frequencies; if they
 * are null, frequency i is divided by s^(i / (n - 1)) instead, where
 * s = stretch * length / after - (stretch - 1). */
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
/* A factor per query, from a transformer.length_scale. numbers: base, floor,
 * beta, period, offset. causal, window_left and window_right (0: no limit) say
 * which keys a query sees. If past is not null, the mask is a state's. */
void mille_query_scale(mille_run *run, int32_t kind, const double *numbers,
                       const int32_t *positions, const int32_t *mask,
                       int64_t rows, int64_t tokens, int32_t causal,
                       int64_t window_left, int64_t window_right,
                       const int32_t *past, int64_t state_rows, float *out);
/* out[0] = the value of the model's schedule number `schedule` at *step, or the
 * value that the session was given for it. */
void mille_schedule(mille_run *run, int32_t schedule, const int32_t *step,
                    float *out);
/* Copies numbers[0 .. n - 1] once for each sequence. */
void mille_token_numbers(mille_run *run, const int32_t *numbers, int64_t n,
                         int32_t *out);
/* Numbers the tokens that count: in each sequence they get first / each,
 * (first + 1) / each, ..., and other tokens get 0. A token counts if its id is
 * not `padding`, or, where padded is 0, if its id is not 0. If past is not
 * null, the ids are a state's, and out has a row per token of the run. */
void mille_count_tokens(mille_run *run, const int32_t *ids, int64_t rows,
                        int64_t tokens, int32_t padded, int32_t padding,
                        int32_t first, int32_t each, const int32_t *past,
                        int64_t state_rows, int32_t *out);
/* out[m, c] = input[m, c] / (1 - rate), or 0 where word c mod 4 of Philox
 * 4x32-10 of the counter (c / 4, *first * tokens + m, *step, layer) and the key
 * (seed, site) is below 2^32 rate. */
void mille_dropout(mille_run *run, const float *input, int64_t input_stride,
                   int64_t columns, const int32_t *step, const int32_t *first,
                   int64_t tokens, double rate, uint32_t seed, uint32_t site,
                   uint32_t layer, float *out, int64_t rows,
                   int64_t out_stride);
/* out[m] = ids[m] + number */
void mille_shift(mille_run *run, const int32_t *ids, int64_t rows,
                 int32_t number, int32_t *out);
/* out[i] = weight[from[i]], for `count` numbers. */
void mille_spread(mille_run *run, const float *weight, const int32_t *from,
                  int64_t count, float *out);
/* out[index[i * tokens + j] * heads + h] += gradient[m, h * tokens + j], where
 * i is m % tokens; rows m in their order. */
void mille_pair_sums(mille_run *run, const float *gradient, int64_t rows,
                     int64_t gradient_stride, const int32_t *index,
                     int64_t tokens, int64_t heads, float *out);
/* index holds `count` parts per sequence; -1 gives zeros. A token of the input
 * is `parts` of them, of `columns` each, and `group` of them side by side make
 * one row of out. */
void mille_gather_tokens(mille_run *run, const float *input,
                         int64_t input_stride, int64_t columns,
                         const int32_t *index, int64_t count, int64_t group,
                         int64_t parts, int64_t tokens, float *out,
                         int64_t out_stride);
/* numbers: c, h, w, kh, kw, stride y x, padding y x, prefix. Where height is
 * not 0, it and width are in place of h and w, and the images follow each other
 * without a gap. */
void mille_patches(mille_run *run, const float *pixels, int64_t pixel_stride,
                   const int32_t *numbers, int64_t height, int64_t width,
                   float *out, int64_t out_stride);
enum { MILLE_RESIZE_BICUBIC = 0, MILLE_RESIZE_BICUBIC_ANTIALIASED = 1 };
/* The rows of an image's tokens, for each image: table `number` of the entry,
 * whose columns begin at first_column of all tables' columns. numbers: patch y
 * x, prefix, placed, own rows, own columns, MILLE_RESIZE_*. base and table may
 * be null. The session keeps the rows until a run has another grid. */
void mille_patch_table(mille_run *run, int32_t number, int64_t first_column,
                       int64_t height, int64_t width, const int32_t *numbers,
                       const float *base, int64_t base_stride,
                       const float *table, int64_t table_stride,
                       int64_t columns, float *out, int64_t out_stride);
/* Cosines, then sines, of the tokens of each image. numbers: patch y x, prefix,
 * head_dim. */
void mille_patch_rotation(mille_run *run, int64_t height, int64_t width,
                          const int32_t *numbers, double theta, float *out,
                          int64_t out_stride);
enum {
  MILLE_MOVE_INTO_WINDOWS = 0,
  MILLE_MOVE_OUT_OF_WINDOWS = 1,
  MILLE_MOVE_MERGE = 2
};
/* An image's tokens of [.., columns] into windows, back, or four side by side.
 * numbers: MILLE_MOVE_*, pixels of a token y x, size of a window, shift. */
void mille_move_patches(mille_run *run, const float *input,
                        int64_t input_stride, int64_t columns, int64_t height,
                        int64_t width, const int32_t *numbers, float *out,
                        int64_t out_stride);
/* A number per place of the windows of each image; numbers as above. */
void mille_window_segments(mille_run *run, int64_t height, int64_t width,
                           const int32_t *numbers, int32_t *out);
/* Output number `output`, [batch, batch], = left * right^T, rounded as if
 * summed in double. */
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
/* The gradient of the logits, [rows, entries], from that of the weights that
 * mille_route gave, [rows, k]. numbers: entries, k, score (MILLE_SCORE_*),
 * renormalised, softmax_chosen. */
void mille_route_gradient(mille_run *run, const int32_t *numbers,
                          double epsilon, double factor, const float *gradient,
                          int64_t gradient_stride, const float *logits,
                          int64_t logits_stride, const int32_t *place,
                          const int32_t *starts, float *out, int64_t rows,
                          int64_t out_stride);
/* The loss that balances experts. Shares of a row: [2 * entries], 1 or 0 for
 * each expert that it has chosen, then the softmax of its logits; their
 * gradient goes into the logits; the loss of shares that are summed over
 * layers is added to the losses [rows], as transformer.balance_loss says.
 * mask: [rows], or null. */
void mille_route_shares(mille_run *run, const float *logits,
                        int64_t logits_stride, int64_t entries, int64_t k,
                        const int32_t *place, const int32_t *starts, float *out,
                        int64_t rows, int64_t out_stride);
void mille_shares_gradient(mille_run *run, const float *gradient,
                           int64_t gradient_stride, const float *logits,
                           int64_t logits_stride, int64_t entries, float *out,
                           int64_t rows, int64_t out_stride);
void mille_balance_loss(mille_run *run, const float *losses,
                        int64_t losses_stride, const float *shares,
                        int64_t shares_stride, int64_t entries, int64_t k,
                        double factor, const int32_t *mask, float *total,
                        int64_t total_stride, float *gradient, int64_t rows,
                        int64_t gradient_stride);
/* out[m, j] = row place[m * k + j] of slots . row m of row */
void mille_slot_products(mille_run *run, const float *slots,
                         int64_t slots_stride, const float *row,
                         int64_t row_stride, int64_t columns,
                         const int32_t *place, int64_t k, float *out,
                         int64_t rows, int64_t out_stride);
/* out[p] = the expert whose rows the sorted place p is one of */
void mille_experts(mille_run *run, const int32_t *starts, int64_t entries,
                   int64_t rows, int32_t *out);
enum {
  MILLE_POOL_FIRST = 0,     /* token number skip */
  MILLE_POOL_LAST = 1,      /* the last token that the mask does not hide */
  MILLE_POOL_FIRST_ID = 3,  /* the first token with this id, or else token 0 */
  MILLE_POOL_HIGHEST_ID = 4 /* the first token with the largest id */
};
/* For the last two kinds, mask holds the ids. Returns 0, or
 * MILLE_INVALID_ARGUMENT if a sequence has no more than `skip` tokens. */
int32_t mille_pool_index(mille_run *run, const int32_t *mask, int64_t tokens,
                         int32_t kind, int64_t skip, int64_t id, int32_t *out);
int32_t mille_pool_mean(mille_run *run, const float *input,
                        int64_t input_stride, const int32_t *mask,
                        int64_t tokens, int64_t skip, int64_t columns,
                        float *out, int64_t out_stride);
/* The gradient of rows that were pooled, from the gradient of [batch, columns].
 * Row index[b] of out gets row b. Where index is null, the tokens from `skip`
 * on that the mask does not hide share it. All other rows are 0. */
void mille_pool_gradient(mille_run *run, const float *gradient,
                         int64_t gradient_stride, const int32_t *index,
                         const int32_t *mask, int64_t tokens, int64_t skip,
                         int64_t columns, float *out, int64_t rows,
                         int64_t out_stride);
/* Row t of a sequence of n is row n - 1 - t of the input, or 0 where the mask
 * hides row t. */
void mille_reverse_tokens(mille_run *run, const float *input,
                          int64_t input_stride, const int32_t *mask,
                          int64_t tokens, int64_t columns, float *out,
                          int64_t rows, int64_t out_stride);
/* Copies rows x columns to entry `index` of output number `output`. */
void mille_keep(mille_run *run, const float *input, int64_t input_stride,
                int64_t rows, int64_t columns, int32_t output, int64_t index);

/* Of a training step, when a layer of the loop back is done: a trainer may
 * change the parameters of which this call says it (parameter_info). Returns 0,
 * or a status with which the step ends. */
int32_t mille_update(mille_run *run);

/* States. past [batch] says how many rows of each sequence the state holds
 * before the run; null: none. A sequence has room for state_rows rows in an
 * entry's buffer. tokens: the rows of a sequence of the run, MILLE_RUN_TOKENS
 * or a fixed number. */

/* Appends each sequence's rows of the run to the rows that its state holds.
 * Rows for which the state has no room are dropped. Strides in bytes. */
void mille_remember(mille_run *run, const void *input, int64_t input_stride,
                    int64_t row_bytes, const int32_t *past, int64_t state_rows,
                    int64_t tokens, void *entry);
/* The same for a state in panels (StatePanels.h) of `heads` heads of `size`
 * elements: panels of keys if `keys` is not 0, of values otherwise.
 * input_stride is in elements. Panels of values hold pairs of rows; if the last
 * pair has one row only, its other row becomes 0. */
void mille_remember_panels(mille_run *run, const void *input,
                           int64_t input_stride, int32_t keys, int64_t heads,
                           int64_t size, int64_t element_bytes,
                           const int32_t *past, int64_t state_rows,
                           int64_t tokens, void *entry);
/* The same for a state in bytes, on a CPU: each row of a head is rounded to 127
 * steps of its own (StatePanels.h). element_bytes are those of the input. */
void mille_remember_bytes(mille_run *run, const void *input,
                          int64_t input_stride, int32_t keys, int64_t heads,
                          int64_t size, int64_t element_bytes,
                          const int32_t *past, int64_t state_rows,
                          int64_t tokens, void *entry);
/* The same in f16, without pairs: numbers beyond 65504 become that. */
void mille_remember_halves(mille_run *run, const void *input,
                           int64_t input_stride, int32_t keys, int64_t heads,
                           int64_t size, int64_t element_bytes,
                           const int32_t *past, int64_t state_rows,
                           int64_t tokens, void *entry);
/* out[m] = the position of the run's token m in its sequence. */
void mille_positions(mille_run *run, const int32_t *past, int64_t rows,
                     int32_t *out);
/* Linear attention, token by token. For each sequence and head, entry holds a
 * sum [head_dim, value_dim] of f32, which starts at zero where past is 0.
 * numbers: heads, kv_heads, head_dim, value_dim, and the first column of the
 * query, the key and the value. */
void mille_linear_attention(mille_run *run, const float *query,
                            int64_t query_stride, const float *key,
                            int64_t key_stride, const float *value,
                            int64_t value_stride, const int32_t *mask,
                            const int32_t *numbers, double scale,
                            const float *decay, const int32_t *past,
                            float *entry, float *out, int64_t out_stride);

/* ---- The weights file ---------------------------------------------------- */
/* Adds `bytes` bytes of data to a hash, which starts as MILLE_HASH_START. Every
 * piece but the last must have a multiple of 8 bytes; the last word is filled
 * up with zeros. */
#define MILLE_HASH_START 14695981039346656037ull
uint64_t mille_weights_hash(uint64_t hash, const void *data, uint64_t bytes);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
