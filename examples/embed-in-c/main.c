/* Runs a compiled model from C: nothing but the generated header and archive,
 * libc, libm and pthread. Prints the first numbers of each token's vector. */
#include "encoder.h"

#include <stdio.h>
#include <stdlib.h>

static void check(mille_status status, const char *message) {
  if (status == MILLE_OK)
    return;
  fprintf(stderr, "%s: %s\n", mille_status_name(status), message);
  exit(1);
}

int main(int argc, char **argv) {
  const char *weights = argc > 1 ? argv[1] : "encoder.weights";
  char message[512];
  mille_package *package;
  check(mille_package_open(encoder_model(), weights, NULL, &package, message,
                           sizeof message),
        message);

  /* Everything a run needs is allocated here: up to 1 sequence of 8 tokens, on
   * 2 threads. */
  mille_session *session;
  check(mille_session_create(package, 1, 8, 2, &session),
        mille_package_message(package));

  enum { tokens = 5, channels = 64 };
  int32_t ids[tokens] = {1, 7, 20, 7, 2};                /* [batch, tokens] */
  static float states[tokens * channels]; /* [batch, tokens, channels] */

  /* Inputs and outputs go by position; ask the package which is which. */
  const void *inputs[8] = {0};
  float *outputs[8] = {0};
  size_t count, i;
  mille_tensor tensor;
  check(mille_package_input_count(package, &count), "too many inputs");
  for (i = 0; i < count && i < 8; ++i) {
    check(mille_package_input(package, i, &tensor), "no such input");
    if (!tensor.optional)
      inputs[i] = ids; /* input_ids is the only one that has no default */
  }
  outputs[0] = states;
  check(mille_session_run(session, 1, tokens, inputs, outputs),
        mille_session_message(session));

  for (i = 0; i < tokens; ++i)
    printf("token %d: %9.5f %9.5f %9.5f ...\n", (int)ids[i],
           states[i * channels], states[i * channels + 1],
           states[i * channels + 2]);
  mille_session_close(session);
  mille_package_close(package);
  return 0;
}
