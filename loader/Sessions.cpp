// The functions of mille.h that take a session: each calls the runtime of the
// session's package. Must not know what they do.
#include "loader/Handles.h"

#include <stdlib.h>

namespace {

// The session that `create` makes with the package's own runtime.
template <typename Create>
mille_status wrap(mille_package *package, mille_session **session,
                  Create create) {
  if (!package || !session)
    return MILLE_INVALID_ARGUMENT;
  *session = nullptr;
  auto *fresh =
      static_cast<mille_session *>(mille::handleMemory(sizeof **session));
  if (!fresh)
    return MILLE_OUT_OF_MEMORY;
  mille_status status =
      create(package->functions(), package->inner, &fresh->inner);
  if (status != MILLE_OK) {
    free(fresh);
    return status;
  }
  fresh->library = package->library;
  fresh->library->enter();
  *session = fresh;
  return status;
}

} // namespace

extern "C" {

mille_status mille_session_create_for(mille_package *package,
                                      const mille_size *most, size_t count,
                                      int threads, mille_session **session) {
  return wrap(package, session,
              [&](auto &functions, auto *inner, auto **created) {
                return functions.mille_session_create_for(inner, most, count,
                                                          threads, created);
              });
}

mille_status mille_session_create_on(mille_package *package,
                                     const mille_size *most, size_t count,
                                     int threads, const char *device,
                                     mille_session **session) {
  return wrap(package, session,
              [&](auto &functions, auto *inner, auto **created) {
                return functions.mille_session_create_on(
                    inner, most, count, threads, device, created);
              });
}

mille_status mille_session_create(mille_package *package, int64_t max_batch,
                                  int64_t max_tokens, int threads,
                                  mille_session **session) {
  return wrap(package, session,
              [&](auto &functions, auto *inner, auto **created) {
                return functions.mille_session_create(
                    inner, max_batch, max_tokens, threads, created);
              });
}

mille_status mille_session_close(mille_session *session) {
  if (!session)
    return MILLE_OK;
  mille_status status =
      session->functions().mille_session_close(session->inner);
  if (status != MILLE_OK)
    return status;
  session->library->leave();
  free(session);
  return MILLE_OK;
}

const char *mille_session_message(const mille_session *session) {
  return session ? session->functions().mille_session_message(session->inner)
                 : "";
}

mille_status mille_session_run_entry(mille_session *session, size_t entry,
                                     const mille_size *sizes, size_t count,
                                     const void *const *inputs,
                                     float *const *outputs) {
  return MILLE_FORWARD(session, mille_session_run_entry, entry, sizes, count,
                       inputs, outputs);
}
mille_status mille_session_start(mille_session *session, size_t entry,
                                 const mille_size *sizes, size_t count,
                                 const void *const *inputs,
                                 float *const *outputs) {
  return MILLE_FORWARD(session, mille_session_start, entry, sizes, count,
                       inputs, outputs);
}
mille_status mille_session_wait(mille_session *session) {
  return MILLE_FORWARD(session, mille_session_wait);
}
mille_status mille_session_run_for(mille_session *session,
                                   const mille_size *sizes, size_t count,
                                   const void *const *inputs,
                                   float *const *outputs) {
  return MILLE_FORWARD(session, mille_session_run_for, sizes, count, inputs,
                       outputs);
}
mille_status mille_session_run(mille_session *session, int64_t batch,
                               int64_t tokens, const void *const *inputs,
                               float *const *outputs) {
  return MILLE_FORWARD(session, mille_session_run, batch, tokens, inputs,
                       outputs);
}
mille_status mille_session_reset_states(mille_session *session) {
  return MILLE_FORWARD(session, mille_session_reset_states);
}
mille_status mille_session_copy_states(mille_session *session, int64_t from,
                                       int64_t to) {
  return MILLE_FORWARD(session, mille_session_copy_states, from, to);
}
mille_status mille_session_least_past(mille_session *session, int64_t sequence,
                                      int64_t *past) {
  return MILLE_FORWARD(session, mille_session_least_past, sequence, past);
}
mille_status mille_session_state_bytes(mille_session *session, size_t state,
                                       size_t *bytes) {
  return MILLE_FORWARD(session, mille_session_state_bytes, state, bytes);
}
mille_status mille_session_read_state(mille_session *session, size_t state,
                                      int64_t sequence, void *into,
                                      size_t bytes) {
  return MILLE_FORWARD(session, mille_session_read_state, state, sequence, into,
                       bytes);
}
mille_status mille_session_write_state(mille_session *session, size_t state,
                                       int64_t sequence, const void *from,
                                       size_t bytes) {
  return MILLE_FORWARD(session, mille_session_write_state, state, sequence,
                       from, bytes);
}
mille_status mille_session_read_state_part(mille_session *session, size_t state,
                                           int64_t sequence, size_t first,
                                           void *into, size_t bytes) {
  return MILLE_FORWARD(session, mille_session_read_state_part, state, sequence,
                       first, into, bytes);
}
mille_status mille_session_write_state_part(mille_session *session,
                                            size_t state, int64_t sequence,
                                            size_t first, const void *from,
                                            size_t bytes) {
  return MILLE_FORWARD(session, mille_session_write_state_part, state, sequence,
                       first, from, bytes);
}
mille_status mille_session_cancel(mille_session *session) {
  return MILLE_FORWARD(session, mille_session_cancel);
}
mille_status mille_session_set_scale(mille_session *session, const char *name,
                                     double value) {
  return MILLE_FORWARD(session, mille_session_set_scale, name, value);
}
mille_status mille_session_keep_padding(mille_session *session, int keep) {
  return MILLE_FORWARD(session, mille_session_keep_padding, keep);
}
mille_status mille_session_threads(const mille_session *session, int *threads) {
  return MILLE_FORWARD(session, mille_session_threads, threads);
}
mille_status mille_session_memory(const mille_session *session, size_t *bytes) {
  return MILLE_FORWARD(session, mille_session_memory, bytes);
}
mille_status mille_session_profile(mille_session *session, int enable) {
  return MILLE_FORWARD(session, mille_session_profile, enable);
}
mille_status mille_session_output_memory(mille_session *session, size_t bytes,
                                         void **memory) {
  return MILLE_FORWARD(session, mille_session_output_memory, bytes, memory);
}
mille_status mille_session_watch_choices(mille_session *session,
                                         void (*see)(void *context,
                                                     const mille_choice *),
                                         void *context) {
  return MILLE_FORWARD(session, mille_session_watch_choices, see, context);
}
mille_status mille_session_kernel_count(const mille_session *session,
                                        size_t *count) {
  return MILLE_FORWARD(session, mille_session_kernel_count, count);
}
mille_status mille_session_kernel(const mille_session *session, size_t index,
                                  mille_profile *profile) {
  return MILLE_FORWARD(session, mille_session_kernel, index, profile);
}
mille_status mille_session_measure_device(mille_session *session,
                                          mille_device *device, double *f32,
                                          double *i32) {
  return MILLE_FORWARD(session, mille_session_measure_device, device, f32, i32);
}
}
