/* Packages by their paths, each with the runtime that it brings, in turn; a
 * session outlives its package. With -DLINKED the package `tiny` that the
 * program is linked with: its outputs are the same numbers.
 * packages PATH...: prints of each its name, and the bits of a run. */
#ifdef LINKED
#include "tiny.h"
#else
#include "mille_loader.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { tokens = 3, most = 4, room = 4096 };

static void check(mille_status status, const char *message) {
  if (status == MILLE_OK)
    return;
  printf("%s: %s\n", mille_status_name(status), message);
  exit(1);
}

static mille_package *open(const char *path) {
  mille_package *package;
  char message[512];
#ifdef LINKED
  check(mille_package_open(tiny_model(), path, NULL, &package, message,
                           sizeof message),
        message);
#else
  check(
      mille_package_open_folder(path, NULL, &package, message, sizeof message),
      message);
#endif
  return package;
}

static mille_session *begin(mille_package *package, size_t *numbers) {
  const mille_size sizes[] = {{"batch", 1}, {"tokens", tokens}};
  mille_session *session;
  mille_tensor input, output;
  const char *name;
  check(mille_session_create_for(package, sizes, 2, 2, &session),
        mille_package_message(package));
  check(mille_package_input(package, 0, &input), "no input");
  check(mille_package_output(package, 0, &output), "no output");
  check(mille_package_name(package, &name), "no name");
  printf("%s: %s to %s\n", name, input.name, output.name);
  *numbers = (size_t)(tokens * output.shape[output.rank - 1]);
  if (*numbers > room)
    check(MILLE_INTERNAL, "an output is larger than the test's room");
  size_t entry;
  if (mille_package_find_entry(package, "none", &entry) == MILLE_OK)
    check(MILLE_INTERNAL, "there is an entry 'none'");
  printf("%s\n", mille_package_message(package));
  check(mille_package_close(package), "a package does not close");
  return session;
}

static void run(mille_session *session, size_t numbers) {
  const int32_t ids[tokens] = {3, 1, 2}, wrong[tokens] = {3, -1, 2};
  static float results[most][room];
  const float *result = results[0];
  const void *inputs[16] = {ids};
  float *outputs[most] = {results[0], results[1], results[2], results[3]};
  check(mille_session_run(session, 1, tokens, inputs, outputs),
        mille_session_message(session));
  for (size_t n = 0; n < numbers; ++n) {
    unsigned bits;
    memcpy(&bits, &result[n], sizeof bits);
    printf("%08x%s", bits, n + 1 < numbers ? " " : "\n");
  }
  inputs[0] = wrong;
  if (mille_session_run(session, 1, tokens, inputs, outputs) !=
      MILLE_INVALID_INPUT)
    check(MILLE_INTERNAL, "an id of -1 ran");
  printf("%s\n", mille_session_message(session));
  check(mille_session_close(session), "a session does not close");
}

int main(int count, char **paths) {
  mille_session *sessions[most];
  size_t numbers[most];
  for (int i = 1; i < count && i <= most; ++i)
    sessions[i - 1] = begin(open(paths[i]), &numbers[i - 1]);
  for (int i = 1; i < count && i <= most; ++i)
    run(sessions[i - 1], numbers[i - 1]);
  return 0;
}
