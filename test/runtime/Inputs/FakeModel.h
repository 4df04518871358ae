/* A model written by hand in the words of abi.h, its kernels in C: shows what
 * the runtime does without a compiler. Its numbers are small whole ones, so
 * exact. */
#ifndef MILLE_TEST_FAKE_MODEL_H
#define MILLE_TEST_FAKE_MODEL_H
#include "runtime/abi.h"
#include "runtime/mille.h"

#include <stdio.h>
#include <stdlib.h>

enum {
  fakeColumns = 24,
  fakeHidden = 32,
  fakeHeads = 4,
  fakeHeadColumns = fakeHidden / fakeHeads,
  fakeVocabulary = 50,
  fakePositions = 300
};

/* Sizes of a model: batch, tokens. */
static const mille_size_info fakeSizes[2] = {{"batch", 0}, {"tokens", 0}};

const mille_model *fake_model(void);
/* The same, padding at either end of a sequence removed. */
const mille_model *fake_padded_model(void);

/* What a run gives: hidden [batch, tokens, 32], pooled [batch, 32]. mask and
 * positions may be null. */
void fake_expected(int64_t batch, int64_t tokens, const int32_t *ids,
                   const int32_t *mask, const int32_t *positions, float *hidden,
                   float *pooled);

/* The weights file: its bytes (static), and written to a path. */
const char *fake_weights(size_t *bytes);
void fake_write(const char *path, const void *data, size_t bytes);
void fake_write_weights(const char *path);
/* What a model compiled with these bytes of a file says of their table. */
uint64_t fake_table_hash(const void *weights);

/* Knobs, for one test at a time. */
extern int fake_fail_at;    /* this kernel call of a run fails; 0: none */
extern size_t fake_scratch; /* bytes that attention asks for */
extern void (*fake_on_kernel)(int call); /* called in each kernel */

/* A stage's buffer of `columns` x `rows` 4-byte elements. */
void fake_buffer(mille_buffer *buffer, mille_dimension *dimensions, void *host,
                 int32_t columns, int64_t rows, int is_float);

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: error: %s does not hold\n", __FILE__, __LINE__,  \
              #condition);                                                     \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/* Which of the forms a message is: in a form # stands for a number. Fails where
 * it is none, and remembers which were seen, so that a test can demand all. */
void fake_seen(const char *message, const char *const *forms, unsigned count,
               unsigned *seen);

/* Opens the package of a model, whose weights are in memory. */
mille_package *fake_open(const mille_model *model);

/* Opens a package and a session of batch 3 and works with it; the n-th piece of
 * memory is refused, n = 1, 2, ... until all is given. Every refusal is of a
 * form, and each form is seen; those of packages and sessions come by
 * themselves. */
void fake_refuse_each(const mille_model *model, const char *device,
                      const char *const *forms, unsigned count,
                      void (*work)(mille_session *session));

/* The status and the message, which must contain `part`. */
#define EXPECT(status, expected, message, part)                                \
  fake_expect(__FILE__, __LINE__, status, expected, message, part)
void fake_expect(const char *file, int line, mille_status status,
                 mille_status expected, const char *message, const char *part);
#endif
