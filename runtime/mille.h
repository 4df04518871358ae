/* Mille's runtime: opens a compiled model and runs it. The only public header;
 * its part mille_train.h has the functions of trainers. No function exits,
 * aborts, throws or prints, as long as nobody changes a weights file that is
 * mapped (see copy_weights). C99 and C++.
 *
 * A package is a model with its weights, read-only and shared. A session is the
 * memory and the threads of a run; mille_session_create makes all of them.
 * Several threads may at the same time call anything on one package but close
 * it, and anything on different sessions. One session takes one call at a time,
 * but for mille_session_cancel: a call while another one is under way returns
 * MILLE_INVALID_ARGUMENT and does nothing. mille_session_message and
 * mille_session_close must not be called then. */
#ifndef MILLE_H
#define MILLE_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

struct mille_model; /* what a compiled model's NAME_model() gives */
typedef struct mille_package mille_package;
typedef struct mille_session mille_session;
typedef struct mille_trainer mille_trainer;

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define MILLE_VERSION_MAJOR 0
#define MILLE_VERSION_MINOR 1
#define MILLE_VERSION_PATCH 0

/* The result of a call, and what the caller does next. The message of the
 * package or session is a sentence with names and values. */
typedef enum mille_status {
  MILLE_OK = 0,
  /* An argument breaks the rules of this header: correct the calling code. */
  MILLE_INVALID_ARGUMENT = 1,
  /* A value in an input tensor: correct the data; the session is as before. */
  MILLE_INVALID_INPUT = 2,
  /* The run is larger than the session (or model) allows: make a larger
   * session, or cut the input. */
  MILLE_TOO_LARGE = 3,
  /* Memory or a thread was refused: release something, or ask for less. */
  MILLE_OUT_OF_MEMORY = 4,
  /* The weights file cannot be read: look at the path and its permissions. */
  MILLE_FILE_ERROR = 5,
  /* The weights file is damaged, newer than this runtime, or another model's:
   * put the file that was compiled with this model beside it. */
  MILLE_BAD_WEIGHTS = 6,
  /* This CPU lacks an instruction set: compile with another --target. */
  MILLE_UNSUPPORTED_CPU = 7,
  /* mille_session_cancel was called: outputs are undefined; run again. */
  MILLE_CANCELLED = 8,
  /* A bug of Mille's: report it with the message. */
  MILLE_INTERNAL = 9,
  /* A back end has no library or no device, or the device's compiler refuses a
   * kernel: install a driver, name another device, or run on the CPU. */
  MILLE_NO_DEVICE = 10
} mille_status;

/* "ok", "invalid argument", ...; never null. */
const char *mille_status_name(mille_status status);
/* "0.1.0" */
const char *mille_version(void);

/* ---- Packages ------------------------------------------------------------ */

/* Options of a package and its sessions; start from MILLE_OPTIONS_INIT. */
typedef struct mille_options {
  size_t size; /* sizeof(mille_options) */
  /* The allocator: set both functions or neither. `alignment` is a power of
   * two. A null result means MILLE_OUT_OF_MEMORY. Only open, create and close
   * call them, on their caller's thread; a run never does. */
  void *(*allocate)(void *user, size_t size, size_t alignment);
  void (*release)(void *user, void *memory);
  void *memory_user;
  /* Receives events, each as one line without a line break; may be null. */
  void (*log)(void *user, const char *message);
  void *log_user;
  /* Not 0: open compares the hash of the whole weights file; without, only its
   * size, its header, and its table with all that the code reads. */
  int verify_hash;
  /* The instruction set to run ("x86-64-v3"); null: the fastest on the CPU. */
  const char *isa;
  /* For tests: CPU features to ignore (MILLE_CPU_* of abi.h). */
  uint64_t hidden_features;
  /* 0: open maps the weights file, so that processes share it. Nobody may
   * change the file until the package is closed: a write changes results, and
   * truncation ends this process with SIGBUS; replacing the file by a rename
   * is safe. Not 0: open reads the file into memory from `allocate`, in large
   * pages where the system has them, and does not use the file afterwards. */
  int copy_weights;
} mille_options;

#define MILLE_OPTIONS_INIT {sizeof(mille_options), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Opens a model with its weights. weights_path: NAME.weights, or null where the
 * weights are embedded. options: null for the defaults. On failure *package is
 * null and message says why (message may be null; 512 bytes are enough). */
mille_status mille_package_open(const struct mille_model *model,
                                const char *weights_path,
                                const mille_options *options,
                                mille_package **package, char *message,
                                size_t message_size);

/* `package` may be null. Its sessions may outlive it: the last one to close
 * releases the weights. */
mille_status mille_package_close(mille_package *package);

/* The message of the last call on this package that failed in the calling
 * thread; "" if none has. The thread's next call on any package may overwrite
 * it. */
const char *mille_package_message(const mille_package *package);

typedef enum mille_type {
  MILLE_TYPE_I32 = 0,
  MILLE_TYPE_F32 = 1,
  MILLE_TYPE_BF16 = 2, /* of states only */
  MILLE_TYPE_I8 = 3,   /* of states only: bytes, and steps among them */
  MILLE_TYPE_F16 = 5   /* of states only */
} mille_type;

/* An input, an output or a state: dense, the last dimension innermost. */
typedef struct mille_tensor {
  const char *name;
  mille_type type;
  int rank;
  int64_t shape[4];     /* 0 where a size of the run stands in its place */
  const char *sizes[4]; /* that size's name ("batch", "tokens"); null: none */
  int optional;         /* inputs: null stands for the usual default */
  int64_t below;        /* inputs: values must be in [0, below); 0: any value */
} mille_tensor;

/* An entry is a function of the model: "forward", and what else it was compiled
 * with ("encode", "decode", "extend"). All entries share the weights. Entry 0
 * is the default. */
typedef struct mille_entry_info {
  const char *name;
  size_t inputs, outputs, states; /* how many it has */
} mille_entry_info;

mille_status mille_package_entry_count(mille_package *package, size_t *count);
/* Strings of entries and tensors live as long as the model. */
mille_status mille_package_entry(mille_package *package, size_t entry,
                                 mille_entry_info *info);
/* The number of the entry of that name. */
mille_status mille_package_find_entry(mille_package *package, const char *name,
                                      size_t *entry);
mille_status mille_package_entry_input(mille_package *package, size_t entry,
                                       size_t index, mille_tensor *tensor);
mille_status mille_package_entry_output(mille_package *package, size_t entry,
                                        size_t index, mille_tensor *tensor);
/* The same of entry 0. */
mille_status mille_package_input_count(mille_package *package, size_t *count);
mille_status mille_package_output_count(mille_package *package, size_t *count);
mille_status mille_package_input(mille_package *package, size_t index,
                                 mille_tensor *tensor);
mille_status mille_package_output(mille_package *package, size_t index,
                                  mille_tensor *tensor);

/* A size of runs, and the most that the model takes of it (0: any). */
mille_status mille_package_size_count(mille_package *package, size_t *count);
mille_status mille_package_size(mille_package *package, size_t index,
                                const char **name, int64_t *most);

/* The model's name; the instruction set that runs; bytes of weights. */
mille_status mille_package_name(mille_package *package, const char **name);
mille_status mille_package_isa(mille_package *package, const char **isa);
mille_status mille_package_weights_bytes(mille_package *package,
                                         uint64_t *bytes);
/* A hash of the model's name, its weights, how they lie, and keys and values in
 * bytes: what is kept beside a model can say of which one it is. */
mille_status mille_package_hash(mille_package *package, uint64_t *hash);

/* A scale of residual sums that follows a schedule over training steps. It is
 * linear in the optional input `step`: `from` at step 0, `to` at step `steps`,
 * after it, and without the input. */
typedef struct mille_scale {
  const char *name; /* "branch_scale"; lives as long as the model */
  double from, to;
  int64_t steps;
} mille_scale;

mille_status mille_package_scale_count(mille_package *package, size_t *count);
mille_status mille_package_scale(mille_package *package, size_t index,
                                 mille_scale *scale);

/* ---- Devices ------------------------------------------------------------- */

typedef enum mille_device_kind {
  MILLE_DEVICE_OTHER = 0,
  MILLE_DEVICE_CPU = 1,
  MILLE_DEVICE_GPU = 2,
  MILLE_DEVICE_ACCELERATOR = 3
} mille_device_kind;

enum {
  MILLE_DEVICE_F16 = 1 << 0,           /* arithmetic in f16 */
  MILLE_DEVICE_F64 = 1 << 1,           /* arithmetic in f64 */
  MILLE_DEVICE_SHARES_MEMORY = 1 << 2, /* shares memory with the CPU */
  MILLE_DEVICE_LOCAL_MEMORY = 1 << 3 /* work-groups have memory of their own */
};

typedef struct mille_device {
  char name[128], version[128], driver[64];
  mille_device_kind kind;
  uint32_t units, megahertz; /* compute units, and their clock */
  uint64_t features;         /* MILLE_DEVICE_F16, ... */
  uint64_t memory_bytes, largest_buffer, local_bytes;
  uint64_t group_items; /* most work-items of a work-group */
} mille_device;

/* Writes up to `room` of the devices that the back end `backend` ("opencl",
 * "cuda") finds in this machine; *count says how many there are.
 * MILLE_NO_DEVICE: there is none, and message says why (it may be null; 512
 * bytes are enough). MILLE_INVALID_ARGUMENT: the runtime has no such back end,
 * and message names those that it has. */
mille_status mille_devices(const char *backend, mille_device *devices,
                           size_t room, size_t *count, char *message,
                           size_t message_size);

/* ---- Sessions ------------------------------------------------------------ */

/* A size by its name: it stands in shapes of inputs, outputs and states. */
typedef struct mille_size {
  const char *name; /* "batch", "tokens", "decoder_tokens", "context", ... */
  int64_t value;    /* at least 1 */
} mille_size;

/* The number of size `name` in runs of these sizes: one of them, or one that
 * follows from them, as an image's image_tokens from height and width; 0 where
 * they do not say it. Runs and sessions are not given a size that follows. */
mille_status mille_package_size_value(mille_package *package,
                                      const mille_size *sizes, size_t count,
                                      const char *name, int64_t *value);

/* Allocates all memory for runs of up to these sizes, and starts threads - 1
 * threads. A session runs the entries whose sizes are all given; those of one
 * entry at least must be. threads: 1 to 64, which may be more than there are
 * cores; 0: one for each CPU of this process. Results do not depend on the
 * number of threads. The new threads inherit the calling thread's affinity, and
 * during a run they avoid the core of the run's caller; where your application
 * sets an affinity for them, they keep it. On failure the package's message
 * says why. */
mille_status mille_session_create_for(mille_package *package,
                                      const mille_size *most, size_t count,
                                      int threads, mille_session **session);

/* As mille_session_create_for, on a device: null or "" for the package's
 * choice, "cpu", a back end ("cuda") for the best of its devices, "cuda:1"
 * for number 1 of its mille_devices, "cuda:NAME" for a device whose name
 * holds NAME. The first session of a package on a device copies the weights
 * there and builds its kernels; later sessions share them. States are in its
 * memory, and padding of entries with states is not removed. */
mille_status mille_session_create_on(mille_package *package,
                                     const mille_size *most, size_t count,
                                     int threads, const char *device,
                                     mille_session **session);

/* As mille_session_create_for, for models whose entry 0 has no sizes but batch
 * and tokens; one that it has not may be any number. */
mille_status mille_session_create(mille_package *package, int64_t max_batch,
                                  int64_t max_tokens, int threads,
                                  mille_session **session);

/* `session` may be null. Must not be called during a run. */
mille_status mille_session_close(mille_session *session);

/* Runs an entry. inputs and outputs are in the order of the package. An
 * optional input may be null; every output is written and must not be null. A
 * run allocates nothing.
 *
 * Padding costs nothing: tokens that attention_mask hides at the start or the
 * end of a sequence are not computed, and their rows are 0 in every output that
 * has a row per token. All other rows have the bits that they would have if
 * padding were computed; on a device sums over more than 64 keys may round
 * differently. Where the mask hides a whole sequence, all its tokens are
 * computed. A model that needs rows of padding computes them (mille compile
 * --remarks=plan says why).
 *
 * In a session on a device of CUDA an output may be in that device's memory,
 * where padding must be kept (mille_session_keep_padding), or in pinned memory
 * of the host, which saves a copy; it is complete when the run is over. */
mille_status mille_session_run_entry(mille_session *session, size_t entry,
                                     const mille_size *sizes, size_t count,
                                     const void *const *inputs,
                                     float *const *outputs);

/* mille_session_run_entry in two halves. `start` checks the run and may return
 * before it is done: on a device it does not wait, on the CPU it computes. Then
 * the run is under way until `wait` gives its status; inputs and outputs, the
 * arrays of their pointers too, stay as they are until then. Where `start`
 * fails there is nothing to wait for. `wait` without a start:
 * MILLE_INVALID_ARGUMENT. Closing a session waits. */
mille_status mille_session_start(mille_session *session, size_t entry,
                                 const mille_size *sizes, size_t count,
                                 const void *const *inputs,
                                 float *const *outputs);
mille_status mille_session_wait(mille_session *session);

/* mille_session_run_entry of entry 0. */
mille_status mille_session_run_for(mille_session *session,
                                   const mille_size *sizes, size_t count,
                                   const void *const *inputs,
                                   float *const *outputs);

/* As mille_session_run_for, for models whose entry 0 has no sizes but batch and
 * tokens: `batch` sequences of `tokens` tokens each. */
mille_status mille_session_run(mille_session *session, int64_t batch,
                               int64_t tokens, const void *const *inputs,
                               float *const *outputs);

/* ---- States -------------------------------------------------------------- */

/* What entries remember between runs, such as the keys and values of causal
 * attention ("extend"). It belongs to the session: zero when that is created,
 * [entries, batch, rows, columns] with the sizes that the session was created
 * for; rows are rounded up to a multiple of 16. Keys and values lie in panels
 * (StatePanels.h), so a state's bytes are for copies, not for reading. `past`
 * says for each sequence how many tokens its state holds: a run reads these and
 * writes behind them. So a smaller `past` forgets the tokens after it.
 * Of layers whose queries see the last W tokens a state may hold W + 576 rows
 * and the most tokens of a run: a `past` that would read dropped ones fails. */
mille_status mille_package_state_count(mille_package *package, size_t *count);
mille_status mille_package_state(mille_package *package, size_t index,
                                 mille_tensor *tensor);
/* Must not be called during a run, like all that follow here. */
mille_status mille_session_reset_states(mille_session *session);
/* Copies what one sequence remembers, of all states, over another's. On a CPU
 * both hold the same keys and values until one writes (docs/extend.md). */
mille_status mille_session_copy_states(mille_session *session, int64_t from,
                                       int64_t to);
/* The least `past` but 0 that reads no dropped rows of a sequence. */
mille_status mille_session_least_past(mille_session *session, int64_t sequence,
                                      int64_t *past);
/* The bytes of a state of a sequence, all its entries: its size, and a copy. */
mille_status mille_session_state_bytes(mille_session *session, size_t state,
                                       size_t *bytes);
mille_status mille_session_read_state(mille_session *session, size_t state,
                                      int64_t sequence, void *into,
                                      size_t bytes);
mille_status mille_session_write_state(mille_session *session, size_t state,
                                       int64_t sequence, const void *from,
                                       size_t bytes);
/* The same of `bytes` of these bytes, from byte `first` on. */
mille_status mille_session_read_state_part(mille_session *session, size_t state,
                                           int64_t sequence, size_t first,
                                           void *into, size_t bytes);
mille_status mille_session_write_state_part(mille_session *session,
                                            size_t state, int64_t sequence,
                                            size_t first, const void *from,
                                            size_t bytes);
/* May be called from any thread. A run that is under way stops after the tasks
 * that its threads hold, and returns MILLE_CANCELLED. */
mille_status mille_session_cancel(mille_session *session);
/* Sets the scale of this name to `value`, whatever the step, from the next run
 * on; NAN makes it follow its schedule again. Not during a run. */
mille_status mille_session_set_scale(mille_session *session, const char *name,
                                     double value);
/* keep, not 0: from the next run on padding is computed like any other token,
 * and its rows in outputs are the results. Must not be called during a run. */
mille_status mille_session_keep_padding(mille_session *session, int keep);
/* The message of the last call on this session that failed; "" if none has. */
const char *mille_session_message(const mille_session *session);
/* The threads of this session, and its bytes of memory without weights. */
mille_status mille_session_threads(const mille_session *session, int *threads);
mille_status mille_session_memory(const mille_session *session, size_t *bytes);

/* Memory of the session's, until it closes, to which its device copies outputs
 * without a copy by the host. *memory is null where an application's own is as
 * good (a CPU), or is refused. Not during a run. */
mille_status mille_session_output_memory(mille_session *session, size_t bytes,
                                         void **memory);

/* Where a router sends rows: each to its k best experts, the best first. */
typedef struct mille_choice {
  int64_t rows, logits_stride; /* from one row of logits to the next */
  int32_t entries, k;
  const float *logits;    /* [rows, entries] */
  const int32_t *experts; /* [rows, k] */
} mille_choice;

/* From the next run on `see` gets each choice; null: nobody does. Not during a
 * run. A run on a device waits for each choice then. */
mille_status mille_session_watch_choices(mille_session *session,
                                         void (*see)(void *context,
                                                     const mille_choice *),
                                         void *context);

/* The time of a kernel, summed over the runs since profiling was enabled. */
typedef struct mille_profile {
  const char *name;
  uint64_t calls;       /* launches */
  uint64_t nanoseconds; /* in the kernel, summed over the threads */
  uint64_t flops;
  uint64_t weight_bytes; /* read by these launches, at least */
} mille_profile;
/* Starts (from zero) or stops profiling. Not while a run is under way. */
mille_status mille_session_profile(mille_session *session, int enable);
mille_status mille_session_kernel_count(const mille_session *session,
                                        size_t *count);
mille_status mille_session_kernel(const mille_session *session, size_t index,
                                  mille_profile *profile);

/* The session's device and its peak, measured now: multiply-adds in registers,
 * of f32 and of 32-bit integers, in 10^9 a second. MILLE_INVALID_ARGUMENT on
 * the CPU. On failure the package's message says why. */
mille_status mille_session_measure_device(mille_session *session,
                                          mille_device *device, double *f32,
                                          double *i32);

#include "mille_train.h"

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
