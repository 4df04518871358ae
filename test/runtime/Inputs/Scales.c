/* Scheduled scales of a compiled model, set by a session: scales WEIGHTS. */
#include "FakeModel.h"
#include "tiny.h"

#include <math.h>
#include <string.h>

enum { tokens = 5, channels = 16, vocabulary = 48 };
static const int32_t ids[tokens] = {1, 5, 2, 9, 30};
static float hidden[4][tokens * channels], logits[tokens * vocabulary];

static void once(mille_session *session, const int32_t *step, float *out) {
  CHECK(tiny_run(session, 1, tokens, ids, NULL, NULL, step, out, logits) ==
        MILLE_OK);
}

int main(int count, char **arguments) {
  mille_package *package;
  mille_session *session;
  char why[512];
  CHECK(count == 2);
  EXPECT(mille_package_open(tiny_model(), arguments[1], NULL, &package, why,
                            sizeof why),
         MILLE_OK, why, "");
  mille_scale scale;
  size_t scales;
  CHECK(mille_package_scale_count(package, &scales) == MILLE_OK && scales == 1);
  CHECK(mille_package_scale(package, 0, &scale) == MILLE_OK);
  CHECK(strcmp(scale.name, "branch_scale") == 0 && scale.from == 0 &&
        scale.to == 1 && scale.steps == 1000);
  EXPECT(mille_package_scale(package, 1, &scale), MILLE_INVALID_ARGUMENT,
         mille_package_message(package), "scale 1 of 1");
  EXPECT(mille_package_scale(package, 0, NULL), MILLE_INVALID_ARGUMENT,
         mille_package_message(package), "scale is null");

  CHECK(mille_session_create(package, 1, tokens, 2, &session) == MILLE_OK);
  const int32_t step = 250;
  once(session, NULL, hidden[0]);
  once(session, &step, hidden[1]);
  CHECK(memcmp(hidden[0], hidden[1], sizeof hidden[0]) != 0);
  /* The same number set by hand, whatever the step. */
  CHECK(mille_session_set_scale(session, "branch_scale", 0.25) == MILLE_OK);
  once(session, NULL, hidden[2]);
  CHECK(memcmp(hidden[1], hidden[2], sizeof hidden[1]) == 0);
  const int32_t other = 700;
  once(session, &other, hidden[2]);
  CHECK(memcmp(hidden[1], hidden[2], sizeof hidden[1]) == 0);
  /* Another session does not know of it. */
  mille_session *second;
  CHECK(mille_session_create(package, 1, tokens, 1, &second) == MILLE_OK);
  once(second, NULL, hidden[3]);
  CHECK(memcmp(hidden[0], hidden[3], sizeof hidden[0]) == 0);
  CHECK(mille_session_close(second) == MILLE_OK);
  /* The schedule again. */
  CHECK(mille_session_set_scale(session, "branch_scale", NAN) == MILLE_OK);
  once(session, NULL, hidden[3]);
  CHECK(memcmp(hidden[0], hidden[3], sizeof hidden[0]) == 0);

  EXPECT(mille_session_set_scale(session, "skip_scale", 1),
         MILLE_INVALID_ARGUMENT, mille_session_message(session),
         "model tiny has no scheduled scale 'skip_scale'; its first one is "
         "branch_scale");
  EXPECT(mille_session_set_scale(session, "branch_scale", INFINITY),
         MILLE_INVALID_ARGUMENT, mille_session_message(session),
         "scale branch_scale must be finite, or NAN for its schedule");
  EXPECT(mille_session_set_scale(session, NULL, 1), MILLE_INVALID_ARGUMENT,
         mille_session_message(session), "name is null");
  CHECK(mille_session_set_scale(NULL, "branch_scale", 1) ==
        MILLE_INVALID_ARGUMENT);
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  puts("scales as set and as scheduled");
  return 0;
}
