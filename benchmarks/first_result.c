/* The least that a program needs to run a package: opens it, runs one sequence,
 * prints the first number.  first_result WEIGHTS IDS TOKENS  (IDS: a file of
 * i32) Needs the archive and header of a package named "model". */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(mille_status status, const char *message) {
  if (status == MILLE_OK)
    return;
  fprintf(stderr, "%s: %s\n", mille_status_name(status), message);
  exit(1);
}

/* Room for an output of one sequence of `tokens` tokens. */
static float *roomFor(mille_package *package, size_t index, int64_t tokens) {
  mille_tensor tensor;
  check(mille_package_output(package, index, &tensor),
        mille_package_message(package));
  size_t size = 1;
  for (int i = 0; i < tensor.rank; ++i)
    size *= !tensor.sizes[i]                         ? (size_t)tensor.shape[i]
            : strcmp(tensor.sizes[i], "tokens") == 0 ? (size_t)tokens
                                                     : 1;
  return calloc(size, sizeof(float));
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  int64_t tokens = atoll(argv[3]);
  int32_t *ids = calloc(tokens, sizeof *ids);
  FILE *file = fopen(argv[2], "rb");
  if (!file || fread(ids, sizeof *ids, tokens, file) != (size_t)tokens)
    return 1;
  fclose(file);
  char message[512];
  mille_package *package;
  check(mille_package_open(model_model(), argv[1], NULL, &package, message,
                           sizeof message),
        message);
  mille_session *session;
  check(mille_session_create(package, 1, tokens, 1, &session),
        mille_package_message(package));
  const void *inputs[16] = {ids}; /* the rest are optional */
  float *outputs[16] = {0};
  size_t count;
  check(mille_package_output_count(package, &count),
        mille_package_message(package));
  for (size_t i = 0; i < count && i < 16; ++i)
    outputs[i] = roomFor(package, i, tokens);
  check(mille_session_run(session, 1, tokens, inputs, outputs),
        mille_session_message(session));
  printf("%g\n", outputs[0][0]);
  return 0;
}
