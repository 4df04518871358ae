/* Mille's generation room: sequences that a model continues, and how a token is
 * drawn. The only public header of libmille_generation. C99 and C++.
 *
 * No function exits, aborts, throws or prints. A generation is a session of a
 * package's entries `next` and `extend` with the sequences that it holds; all
 * memory is allocated by mille_generation_create, but for that of the C library
 * for a file that is open. A generation takes one call at a time, but for
 * mille_generation_cancel. A call that fails changes nothing that is held, and
 * the generation stays usable.
 *
 *   mille_generation_create(&runtime, package, &options, &g, why, sizeof why);
 *   mille_sequence_open(g, &s);
 *   mille_sequence_source(g, s, source, n);       (of an encoder-decoder)
 *   mille_sequence_append(g, s, prompt, count);
 *   for (int n = 0; n < most; ++n) {
 *     mille_generation_decode(g);
 *     mille_sequence_sample(g, s, &sampling, &id);
 *     if (id == end)
 *       break;
 *     mille_sequence_append(g, s, &id, 1);
 *   }
 */
#ifndef MILLE_GENERATION_H
#define MILLE_GENERATION_H
#ifndef MILLE_H /* a NAME.h has its text */
#include "mille.h"
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef struct mille_generation mille_generation;

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The functions of the runtime that the package was opened with. A program that
 * is linked with one says MILLE_GENERATION_RUNTIME; one that loads a NAME.so
 * looks them up there. */
typedef struct mille_generation_runtime {
  size_t size; /* sizeof(mille_generation_runtime) */
  mille_status (*package_find_entry)(mille_package *, const char *, size_t *);
  mille_status (*package_entry)(mille_package *, size_t, mille_entry_info *);
  mille_status (*package_entry_input)(mille_package *, size_t, size_t,
                                      mille_tensor *);
  mille_status (*package_entry_output)(mille_package *, size_t, size_t,
                                       mille_tensor *);
  mille_status (*package_state_count)(mille_package *, size_t *);
  mille_status (*package_state)(mille_package *, size_t, mille_tensor *);
  mille_status (*package_name)(mille_package *, const char **);
  mille_status (*package_hash)(mille_package *, uint64_t *);
  const char *(*package_message)(const mille_package *);
  mille_status (*session_create_for)(mille_package *, const mille_size *,
                                     size_t, int, mille_session **);
  mille_status (*session_close)(mille_session *);
  mille_status (*session_run_entry)(mille_session *, size_t, const mille_size *,
                                    size_t, const void *const *,
                                    float *const *);
  mille_status (*session_copy_states)(mille_session *, int64_t, int64_t);
  mille_status (*session_least_past)(mille_session *, int64_t, int64_t *);
  mille_status (*session_state_bytes)(mille_session *, size_t, size_t *);
  mille_status (*session_read_state_part)(mille_session *, size_t, int64_t,
                                          size_t, void *, size_t);
  mille_status (*session_write_state_part)(mille_session *, size_t, int64_t,
                                           size_t, const void *, size_t);
  mille_status (*session_cancel)(mille_session *);
  const char *(*session_message)(const mille_session *);
  mille_status (*session_output_memory)(mille_session *, size_t, void **);
  mille_status (*session_memory)(const mille_session *, size_t *);
} mille_generation_runtime;

#define MILLE_GENERATION_RUNTIME                                               \
  {sizeof(mille_generation_runtime),                                           \
   mille_package_find_entry,                                                   \
   mille_package_entry,                                                        \
   mille_package_entry_input,                                                  \
   mille_package_entry_output,                                                 \
   mille_package_state_count,                                                  \
   mille_package_state,                                                        \
   mille_package_name,                                                         \
   mille_package_hash,                                                         \
   mille_package_message,                                                      \
   mille_session_create_for,                                                   \
   mille_session_close,                                                        \
   mille_session_run_entry,                                                    \
   mille_session_copy_states,                                                  \
   mille_session_least_past,                                                   \
   mille_session_state_bytes,                                                  \
   mille_session_read_state_part,                                              \
   mille_session_write_state_part,                                             \
   mille_session_cancel,                                                       \
   mille_session_message,                                                      \
   mille_session_output_memory,                                                \
   mille_session_memory}

/* ---- Generations --------------------------------------------------------- */

/* Start from MILLE_GENERATION_OPTIONS_INIT. */
typedef struct mille_generation_options {
  size_t size;       /* sizeof(mille_generation_options) */
  int64_t sequences; /* that may be open at a time; at least 1 */
  int64_t context;   /* tokens that each has room for */
  /* The most tokens of a sequence that a run takes: longer ones run in pieces,
   * so that memory does not grow with the context. 0: a usual number. */
  int64_t piece;
  /* The most guesses of a sequence (see mille_sequence_guess); 0: none. */
  int64_t guesses;
  int threads; /* as mille_session_create_for takes them */
  /* Tokens of a source that each sequence has room for, where a model has an
   * encoder. 0: as many as `context`. */
  int64_t source;
} mille_generation_options;

#define MILLE_GENERATION_OPTIONS_INIT                                          \
  {sizeof(mille_generation_options), 1, 2048, 0, 0, 0, 0}

/* The package needs the entry `next` or `extend`. Where it has both, `extend`
 * computes the rows whose logits are asked for, and `next` all others; so a
 * token's logits do not depend on the options. The package must stay open. On
 * failure *generation is null and message says why (it may be null; 512 bytes
 * are enough). */
mille_status mille_generation_create(const mille_generation_runtime *runtime,
                                     mille_package *package,
                                     const mille_generation_options *options,
                                     mille_generation **generation,
                                     char *message, size_t message_size);
/* `generation` may be null. */
void mille_generation_close(mille_generation *generation);

/* The message of the last call on this generation that failed: a sentence with
 * names and values; "" if none has. */
const char *mille_generation_message(const mille_generation *generation);

/* How many ids there are: each is in [0, vocabulary). */
int64_t mille_generation_vocabulary(const mille_generation *generation);
int64_t mille_generation_context(const mille_generation *generation);

/* The bytes of all its memory, which never grows: the session's, in which
 * `sequences` sequences have room for what the model remembers of `context`
 * tokens each, and that of ids, logits and draws. */
mille_status mille_generation_memory(mille_generation *generation,
                                     size_t *bytes);

/* Runs what was appended to any sequence and has not run, of all sequences in
 * one step; nothing where there is nothing to run. Of each sequence that has an
 * id the logits of the last one are known then. Allocates nothing. */
mille_status mille_generation_decode(mille_generation *generation);

/* May be called from any thread: mille_generation_decode returns
 * MILLE_CANCELLED; called again, it goes on. */
mille_status mille_generation_cancel(mille_generation *generation);

/* ---- Sequences ----------------------------------------------------------- */

/* An empty sequence. MILLE_TOO_LARGE: all are open. */
mille_status mille_sequence_open(mille_generation *generation,
                                 int64_t *sequence);
mille_status mille_sequence_close(mille_generation *generation,
                                  int64_t sequence);

/* Puts ids behind those that the sequence holds. MILLE_INVALID_INPUT: an id is
 * not in the vocabulary. MILLE_TOO_LARGE: there is no room for so many. */
mille_status mille_sequence_append(mille_generation *generation,
                                   int64_t sequence, const int32_t *ids,
                                   size_t count);

/* The source that a decoder beside an encoder answers: it is encoded at once,
 * and the sequence then holds no ids. Forks have the same source, which is not
 * encoded again. Before it has one, a sequence of such a model does not run.
 * MILLE_TOO_LARGE: there is no room for so many. */
mille_status mille_sequence_source(mille_generation *generation,
                                   int64_t sequence, const int32_t *ids,
                                   size_t count);
/* The same where the encoder takes numbers, such as [mels, frames]: all of
 * them. */
mille_status mille_sequence_source_values(mille_generation *generation,
                                          int64_t sequence, const float *values,
                                          size_t count);

/* Holds these ids from now on. What they have in common with those that it
 * holds stays; *kept says how many that are (it may be null). */
mille_status mille_sequence_follow(mille_generation *generation,
                                   int64_t sequence, const int32_t *ids,
                                   size_t count, size_t *kept);

/* Forgets all ids but the first `length`. */
mille_status mille_sequence_rewind(mille_generation *generation,
                                   int64_t sequence, int64_t length);

/* A sequence that holds the first `length` ids of another one. They do not run
 * again, but for running sums (linear attention) of another length; what the
 * model remembers of them is copied. */
mille_status mille_sequence_fork(mille_generation *generation, int64_t sequence,
                                 int64_t length, int64_t *fork);

/* The ids that it holds; they live until the next call on the generation. */
mille_status mille_sequence_ids(mille_generation *generation, int64_t sequence,
                                const int32_t **ids, size_t *count);

/* Writes the sequence to a file, whole or not at all, or opens one of a file.
 * What the model remembers is in it for generations of the same context; in any
 * other the ids run again, which gives the same bits.
 * MILLE_INVALID_INPUT: the file is damaged, or of another model.
 * MILLE_TOO_LARGE: it holds more ids than there is room for.
 * MILLE_FILE_ERROR: it cannot be read or written. */
mille_status mille_sequence_save(mille_generation *generation, int64_t sequence,
                                 const char *path);
mille_status mille_sequence_load(mille_generation *generation, const char *path,
                                 int64_t *sequence);

/* ---- Tokens -------------------------------------------------------------- */

/* How a token is drawn, in this order: biases; penalties; the mask; the
 * temperature; what top-k, typical, top-p and min-p leave; a draw. Ties go to
 * the lowest id. Start from MILLE_SAMPLING_INIT. */
typedef struct mille_sampling {
  size_t size;        /* sizeof(mille_sampling) */
  double temperature; /* >= 0; 0: the largest logit */
  int64_t top_k;      /* >= 0; 0: all */
  double typical;     /* in (0, 1]: those nearest to the expected surprise */
  double top_p;       /* in (0, 1]: the fewest that have this share */
  double min_p;       /* in [0, 1]: this share of the likeliest one's */
  /* Of an id that is among the last `repeat_last` (0: all that are held): its
   * logit is divided by the first where it is positive, else multiplied; the
   * second is taken from it; the third as often as it is there. */
  double repetition_penalty; /* > 0 */
  double presence_penalty;
  double frequency_penalty;
  int64_t repeat_last; /* >= 0 */
  uint64_t seed;
  /* Numbers that are added to logits; -INFINITY: never drawn. */
  const int32_t *bias_ids;
  const double *biases;
  size_t bias_count;
  /* Bit id % 64 of allowed[id / 64]: whether the id may be drawn. A grammar
   * writes them before each draw. Null: all. */
  const uint64_t *allowed;
} mille_sampling;

#define MILLE_SAMPLING_INIT                                                    \
  {sizeof(mille_sampling), 0.8, 40, 1, 0.95, 0.05, 1, 0, 0, 0, 0, 0, 0, 0, 0}

/* The next id of the sequence. It depends on the logits, on the ids that
 * penalties look at, on the seed and on how many ids are held alone: the same
 * seed gives the same text beside any other sequences. MILLE_INVALID_ARGUMENT:
 * a number is out of its range, or the logits are not known yet.
 * MILLE_INVALID_INPUT: the mask allows no id, or a bias is of no id. */
mille_status mille_sequence_sample(mille_generation *generation,
                                   int64_t sequence,
                                   const mille_sampling *sampling, int32_t *id);

/* The logits behind the last id: they live until the next call on the
 * generation. */
mille_status mille_sequence_logits(mille_generation *generation,
                                   int64_t sequence, const float **logits,
                                   size_t *count);

/* What an output of the entries says of the last id, with as many numbers as it
 * has of a token: "last_hidden_state", the input of the head, or
 * "hidden_states", [layers + 1, hidden], of a package that was compiled with
 * --hidden-states. They live until the next call on the generation.
 * MILLE_INVALID_ARGUMENT: there is no such output, or nothing is known of the
 * last id yet. */
mille_status mille_sequence_output(mille_generation *generation,
                                   int64_t sequence, const char *name,
                                   const float **numbers, size_t *count);

/* The `count` likeliest ids, likeliest first, and the logarithms of their
 * probabilities by the model alone: before biases, penalties, the temperature
 * and the mask. */
mille_status mille_sequence_likeliest(mille_generation *generation,
                                      int64_t sequence, size_t count,
                                      int32_t *ids, double *logprobs);
/* The same of an id of yours. */
mille_status mille_sequence_logprob(mille_generation *generation,
                                    int64_t sequence, int32_t id,
                                    double *logprob);

/* ---- Beams --------------------------------------------------------------- */

typedef enum mille_beams_stop {
  MILLE_BEAMS_STOP_LIKELY =
      0,                      /* no beam that runs is likely to become better */
  MILLE_BEAMS_STOP_EARLY = 1, /* as many beams have ended as there are */
  MILLE_BEAMS_STOP_NEVER = 2  /* no beam that runs can become better */
} mille_beams_stop;

/* Start from MILLE_BEAMS_INIT. */
typedef struct mille_beams {
  size_t size;   /* sizeof(mille_beams) */
  int64_t beams; /* 1 to 8; 1: the likeliest id at each step */
  int64_t most;  /* ids that may follow those that are held; at least 1 */
  double length_penalty; /* a score is divided by the ids to this power */
  mille_beams_stop stop;
  int32_t first, last; /* the only id that may come first, or where `most` ids
                          would be over; -1: any */
  const int32_t *ends; /* ids that end a beam, at most 64, and are part of it */
  size_t end_count;
  const int32_t *banned; /* ids that never come */
  size_t banned_count;
  const int32_t *banned_first; /* ids that do not come first */
  size_t banned_first_count;
  int64_t least;     /* ids that follow before an id may end a beam */
  int64_t no_repeat; /* > 0: no so many ids come that a beam has already */
} mille_beams;

#define MILLE_BEAMS_INIT                                                       \
  {sizeof(mille_beams),                                                        \
   4,                                                                          \
   64,                                                                         \
   1,                                                                          \
   MILLE_BEAMS_STOP_LIKELY,                                                    \
   -1,                                                                         \
   -1,                                                                         \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0}

/* The best of several continuations that are searched side by side: a beam's
 * score is the sum of its ids' logarithms of probabilities, divided as the
 * length penalty says. The other beams take sequences that are not open,
 * `beams` - 1 of them, and leave them closed. The sequence holds what it held;
 * what was found lives until the next call on the generation, without the ids
 * that were held. `score` may be null. MILLE_TOO_LARGE: there are too few
 * sequences, or no room for so many ids. */
mille_status mille_sequence_beams(mille_generation *generation,
                                  int64_t sequence, const mille_beams *beams,
                                  const int32_t **ids, size_t *count,
                                  double *score);

/* ---- Guesses ------------------------------------------------------------- */

/* Speculative decoding: guesses run together with what was appended and has not
 * run. Appending the id that was guessed then costs no run; any other id
 * forgets the guesses. What is drawn, and the bits of its logits, do not depend
 * on guesses. Call one of these behind each append: it guesses anew, or leaves
 * the guesses that have run where nothing else has to run. */

/* Guesses of yours; those for which there is no room are left out. */
mille_status mille_sequence_guess(mille_generation *generation,
                                  int64_t sequence, const int32_t *ids,
                                  size_t count);

/* Guesses what stood behind the last ids where they were before; none where
 * they were not. *count: how many, it may be null. */
mille_status mille_sequence_guess_ngram(mille_generation *generation,
                                        int64_t sequence, size_t *count);

/* Guesses what a smaller model says likeliest. `draft` is a sequence of
 * `drafts`, of a package with the same vocabulary, and is used for nothing
 * else. MILLE_INVALID_ARGUMENT: the vocabularies have other sizes. Where the
 * draft fails its message is this generation's. */
mille_status mille_sequence_guess_draft(mille_generation *generation,
                                        int64_t sequence,
                                        mille_generation *drafts, int64_t draft,
                                        size_t *count);

/* ---- Stops --------------------------------------------------------------- */

/* Texts that end an answer and are no part of it: bytes that may begin one wait
 * until that is sure. An id that ends an answer is the loop's to compare. */
typedef struct mille_stops mille_stops;

/* The bytes are copied. MILLE_INVALID_ARGUMENT: a text is empty or null. On
 * failure *stops is null. */
mille_status mille_stops_create(const char *const *texts, const size_t *sizes,
                                size_t count, mille_stops **stops);
/* `stops` may be null. */
void mille_stops_close(mille_stops *stops);

/* The next bytes of the answer, in pieces of any size: hands those that are no
 * part of a stop to `write`. *stopped, not 0: the first stop that is whole has
 * been found, and what comes after it is dropped. Allocates nothing. */
mille_status
mille_stops_push(mille_stops *stops, const char *bytes, size_t size,
                 void (*write)(void *user, const char *bytes, size_t size),
                 void *user, int *stopped);
/* The answer is over: hands out what still waits, and begins anew. */
mille_status mille_stops_finish(mille_stops *stops,
                                void (*write)(void *user, const char *bytes,
                                              size_t size),
                                void *user);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
