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
  const int32_t ids[tokens] = {1, 7, 20, 7, 2}; /* [batch, tokens] */
  static float states[tokens * channels];       /* [batch, tokens, channels] */

  /* Null: every token may be seen, and positions count from 0. */
  check(encoder_run(session, 1, tokens, ids, NULL, NULL, states),
        mille_session_message(session));

  for (int i = 0; i < tokens; ++i)
    printf("token %d: %9.5f %9.5f %9.5f ...\n", ids[i], states[i * channels],
           states[i * channels + 1], states[i * channels + 2]);
  mille_session_close(session);
  mille_package_close(package);
  return 0;
}
