/* Sessions of a model whose states hold the tokens of its sequences. */
#pragma once
#include "FakeModel.h"

/* For a context of so many tokens and the most of a run; it must succeed. */
static mille_session *made(mille_package *package, int64_t context,
                           int64_t batch, int64_t tokens, int threads) {
  const mille_size most[] = {
      {"context", context}, {"tokens", tokens}, {"batch", batch}};
  mille_session *session;
  CHECK(mille_session_create_for(package, most, 3, threads, &session) ==
        MILLE_OK);
  return session;
}
