/* Logits of a generation on a device of CUDA, over a driver without one, come
 * to memory that the generation reads: they are copied once: on-cuda WEIGHTS */
#define _POSIX_C_SOURCE 200112L /* setenv, in FakeCudaDriver.h */
#include "tiny.h"

#include "mille_generation.h"
#include "test/runtime/Inputs/FakeCudaDriver.h"

static void check(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

enum { most = 4 }; /* outputs */
static char *lent[most];
static size_t lentBytes[most];
static int lentCount;

static mille_status outputMemory(mille_session *session, size_t bytes,
                                 void **memory) {
  CHECK(lentCount < most);
  const mille_status status =
      mille_session_output_memory(session, bytes, memory);
  lentBytes[lentCount] = bytes;
  lent[lentCount++] = *memory;
  return status;
}

int main(int count, char **arguments) {
  mille_generation_runtime runtime = MILLE_GENERATION_RUNTIME;
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  mille_package *package;
  mille_generation *made;
  int64_t sequence;
  char why[512] = "";
  const int32_t ids[] = {1, 5, 2};
  CHECK(count == 2);
  CHECK(mille_package_open(tiny_model(), arguments[1], NULL, &package, why,
                           sizeof why) == MILLE_OK);
  runtime.session_output_memory = outputMemory;
  options.sequences = 2;
  options.context = 64;
  check(mille_generation_create(&runtime, package, &options, &made, why,
                                sizeof why) == MILLE_OK,
        why);
  /* Of the only entry, `next`; beside the session's own pinned memory. The
   * last output is the logits. */
  CHECK(lentCount && counts()->pinned_pieces == 1 + (size_t)lentCount);
  CHECK(lent[lentCount - 1] &&
        lentBytes[lentCount - 1] ==
            2 * sizeof(float) * (size_t)mille_generation_vocabulary(made));
  CHECK(mille_sequence_open(made, &sequence) == MILLE_OK);
  CHECK(mille_sequence_append(made, sequence, ids, 3) == MILLE_OK);
  check(mille_generation_decode(made) == MILLE_OK,
        mille_generation_message(made));
  CHECK(counts()->read_to == lent[lentCount - 1]);
  mille_generation_close(made);
  CHECK(mille_package_close(package) == MILLE_OK);
  CHECK(counts()->pinned_pieces == 0 && counts()->device_pieces == 0);
  puts("one copy");
  return 0;
}
