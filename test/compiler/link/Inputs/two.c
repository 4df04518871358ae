/* Two models side by side in one process: two.c FIRST.weights SECOND.weights.
 * Runs them in turns, twice, and prints the logits of the last runs. */
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

static void print(const char *name, const float *numbers, int count) {
  int i;
  printf("%s", name);
  for (i = 0; i < count; ++i)
    printf(" %.9g", numbers[i]);
  printf("\n");
}

int main(int count, char **words) {
  mille_package *first, *second;
  if (count != 3)
    return 2;
  mille_session *a = start(first_model(), words[1], &first);
  mille_session *b = start(second_model(), words[2], &second);
  int32_t ids[3] = {1, 2, 3};
  static float x[3 * 16], y[3 * 16]; /* 16 channels */
  static float p[3 * 48], q[3 * 48]; /* 48 words */
  int round;
  for (round = 0; round < 2; ++round)
    if (first_run(a, 1, 3, ids, NULL, NULL, x, p) != MILLE_OK ||
        second_run(b, 1, 3, ids, NULL, NULL, y, q) != MILLE_OK)
      return 3;
  print("first", p, 3 * 48);
  print("second", q, 3 * 48);
  mille_session_close(a);
  mille_session_close(b);
  mille_package_close(first);
  mille_package_close(second);
  return 0;
}
