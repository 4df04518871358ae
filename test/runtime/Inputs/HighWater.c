/* How far a run writes its arena: up to what plan says, but for the rows that
 * pad the last buffer.
 * HighWater WEIGHTS */
#include "runtime/abi.h"
#include "tiny.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { batch = 17, tokens = 37, untouched = 0xb5 };

static mille_forward_function forward;
static int64_t perRow, planned, written, padding;

static int32_t watched(mille_run *run) {
  unsigned char *arena = (unsigned char *)run->arena;
  planned = run->padded_rows * perRow;
  padding = run->padded_rows - run->token_rows;
  memset(arena, untouched, planned);
  const int32_t code = forward(run);
  for (written = planned; written && arena[written - 1] == untouched;)
    --written;
  return code;
}

static void check(mille_status status, const char *message) {
  if (status == MILLE_OK)
    return;
  fprintf(stderr, "%s: %s\n", mille_status_name(status), message);
  exit(1);
}

int main(int argc, char **argv) {
  (void)argc;
  static int32_t ids[batch * tokens];
  static float hidden[batch * tokens * 16], logits[batch * tokens * 48];
  char message[512];
  mille_package *package;
  mille_session *session;
  mille_model model = *tiny_model();
  mille_entry entry = model.entries[0];
  forward = entry.forward;
  perRow = (int64_t)entry.arena_bytes_per_row;
  entry.forward = watched;
  model.entries = &entry;
  model.entry_count = 1;
  check(mille_package_open(&model, argv[1], NULL, &package, message,
                           sizeof message),
        message);
  check(mille_session_create(package, batch, tokens, 1, &session),
        mille_package_message(package));
  check(tiny_run(session, batch, tokens, ids, NULL, NULL, hidden, logits),
        mille_session_message(session));
  printf("%ld bytes a row, %ld of %ld bytes written\n", (long)perRow,
         (long)written, (long)planned);
  check(mille_session_close(session), "");
  check(mille_package_close(package), "");
  return !(written <= planned && planned - written < perRow * (padding + 1));
}
