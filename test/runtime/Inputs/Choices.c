/* Which experts the rows of a run go to: choices WEIGHTS. */
#include "FakeModel.h"
#include "tiny.h"

#include <string.h>

enum { tokens = 35, batch = 2, rows = batch * tokens, most = 4, layers = 2 };
static int32_t ids[rows];
static float hidden[rows * 24], logits[rows * 64];

typedef struct {
  int calls;
  int32_t experts[layers][rows * 2];
} seen_choices;

/* A row's experts are those of its two largest logits, the largest first. */
static void see(void *context, const mille_choice *choice) {
  seen_choices *seen = context;
  CHECK(choice->rows == rows && choice->entries == most && choice->k == 2);
  CHECK(seen->calls < layers);
  for (int64_t m = 0; m < rows; ++m) {
    const float *row = choice->logits + m * choice->logits_stride;
    const int32_t *experts = choice->experts + 2 * m;
    int larger[2] = {0, 0};
    for (int e = 0; e < most; ++e)
      for (int j = 0; j < 2; ++j)
        larger[j] += row[e] > row[experts[j]];
    CHECK(larger[0] == 0 && larger[1] == 1);
  }
  memcpy(seen->experts[seen->calls++], choice->experts,
         sizeof seen->experts[0]);
}

static void once(mille_session *session) {
  CHECK(tiny_run(session, batch, tokens, ids, NULL, NULL, hidden, logits) ==
        MILLE_OK);
}

int main(int count, char **arguments) {
  static seen_choices seen[2];
  mille_package *package;
  mille_session *session;
  char why[512];
  CHECK(count == 2);
  for (int i = 0; i < rows; ++i)
    ids[i] = (i * 29 + 7) % 64;
  EXPECT(mille_package_open(tiny_model(), arguments[1], NULL, &package, why,
                            sizeof why),
         MILLE_OK, why, "");
  for (int i = 0; i < 2; ++i) {
    CHECK(mille_session_create(package, batch, tokens, 1 + 2 * i, &session) ==
          MILLE_OK);
    CHECK(mille_session_watch_choices(session, see, &seen[i]) == MILLE_OK);
    once(session);
    CHECK(seen[i].calls == layers);
    if (i == 0)
      CHECK(mille_session_close(session) == MILLE_OK);
  }
  /* The same ones with any number of threads. */
  CHECK(memcmp(seen[0].experts, seen[1].experts, sizeof seen[0].experts) == 0);
  printf("%d choices of %d rows, 2 of %d experts each\n", seen[1].calls, rows,
         most);
  CHECK(mille_session_watch_choices(session, NULL, NULL) == MILLE_OK);
  once(session);
  printf("nobody sees: %d choices\n", seen[1].calls - layers);
  CHECK(mille_session_watch_choices(NULL, see, NULL) == MILLE_INVALID_ARGUMENT);
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  return 0;
}
