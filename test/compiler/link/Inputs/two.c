/* Two models side by side in one process: two.c FIRST.weights SECOND.weights.
 * */
#include "first.h"
#include "second.h"
#include <stdio.h>
#include <stdlib.h>

static mille_session *start(const struct mille_model *model,
                            const char *weights, mille_package **package) {
  char message[512];
  mille_session *session = NULL;
  if (mille_package_open(model, weights, NULL, package, message,
                         sizeof message) != MILLE_OK) {
    fprintf(stderr, "%s\n", message);
    exit(1);
  }
  if (mille_session_create(*package, 1, 4, 2, &session) != MILLE_OK) {
    fprintf(stderr, "%s\n", mille_package_message(*package));
    exit(1);
  }
  return session;
}

int main(int count, char **words) {
  mille_package *first, *second;
  if (count != 3)
    return 2;
  mille_session *a = start(first_model(), words[1], &first);
  mille_session *b = start(second_model(), words[2], &second);
  int32_t ids[3] = {1, 2, 3};
  static float x[3 * 64], y[3 * 64]; /* 16 channels, 48 words */
  if (first_run(a, 1, 3, ids, NULL, NULL, x, y) != MILLE_OK ||
      second_run(b, 1, 3, ids, NULL, NULL, x, y) != MILLE_OK)
    return 3;
  mille_session_close(a);
  mille_session_close(b);
  mille_package_close(first);
  mille_package_close(second);
  return 0;
}
