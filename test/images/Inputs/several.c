/* One session for images of several heights and widths: the bits of a session
 * made for that size, whatever size the run before had. Then what is refused.
 * several WEIGHTS */
#include "tiny.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 3 * 2 * 64 * 64, columns = 24, patch = 4 };
static float pixels[most], got[2][most], pooled[2][2 * columns];
static mille_package *package;
static int checks;

static void check(int right, const char *what) {
  ++checks;
  if (right)
    return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static mille_session *create(int64_t batch, int64_t height, int64_t width,
                             int threads) {
  mille_size sizes[] = {{"batch", batch}, {"height", height}, {"width", width}};
  mille_session *session;
  check(mille_session_create_for(package, sizes, 3, threads, &session) ==
            MILLE_OK,
        mille_package_message(package));
  return session;
}

static void run(mille_session *session, int which, int64_t batch,
                int64_t height, int64_t width) {
  memset(got[which], 0xff, sizeof got[which]);
  check(tiny_run(session, batch, height, width, pixels, got[which],
                 pooled[which]) == MILLE_OK,
        mille_session_message(session));
}

static void refuse(mille_status wanted, mille_status status, const char *got,
                   const char *message) {
  ++checks;
  if (status == wanted && strcmp(got, message) == 0)
    return;
  fprintf(stderr, "%s: %s\n", mille_status_name(status), got);
  exit(1);
}

static void refuseRuns(mille_session *session) {
  refuse(MILLE_INVALID_ARGUMENT,
         tiny_run(session, 1, 14, 16, pixels, got[0], pooled[0]),
         mille_session_message(session),
         "height is 14 but must be a multiple of 4");
  refuse(MILLE_INVALID_ARGUMENT,
         tiny_run(session, 1, 16, 3, pixels, got[0], pooled[0]),
         mille_session_message(session), "width is 3 but must be at least 4");
  refuse(MILLE_TOO_LARGE,
         tiny_run(session, 1, 8, 36, pixels, got[0], pooled[0]),
         mille_session_message(session),
         "width is 36 but this session was created for 32");
  const void *inputs[] = {pixels};
  float *outputs[] = {got[0], pooled[0]};
  mille_size sizes[] = {
      {"batch", 1}, {"height", 8}, {"width", 8}, {"image_tokens", 5}};
  refuse(MILLE_INVALID_ARGUMENT,
         mille_session_run_for(session, sizes, 4, inputs, outputs),
         mille_session_message(session),
         "image_tokens is given but follows from height and width");
}

static void refuseSessions(void) {
  mille_session *session;
  mille_size sizes[] = {
      {"batch", 1}, {"height", 64}, {"width", 68}, {"image_tokens", 5}};
  refuse(MILLE_TOO_LARGE,
         mille_session_create_for(package, sizes, 3, 1, &session),
         mille_package_message(package),
         "max_width is 68 but model tiny takes at most 64");
  refuse(MILLE_INVALID_ARGUMENT,
         mille_session_create_for(package, sizes, 4, 1, &session),
         mille_package_message(package),
         "max_image_tokens is given but follows from height and width");
  sizes[2].value = 3;
  refuse(MILLE_INVALID_ARGUMENT,
         mille_session_create_for(package, sizes, 3, 1, &session),
         mille_package_message(package),
         "max_width is 3 but must be at least 4");
}

static void askSizes(void) {
  const char *names[] = {"batch", "height", "width"};
  size_t count;
  check(mille_package_size_count(package, &count) == MILLE_OK && count == 3,
        "sizes that a run is given");
  for (size_t i = 0; i < count; ++i) {
    const char *name;
    int64_t limit;
    check(mille_package_size(package, i, &name, &limit) == MILLE_OK &&
              strcmp(name, names[i]) == 0 && limit == (i ? 64 : 0),
          "a size and its most");
  }
  mille_size sizes[] = {{"height", 13 * patch}, {"width", 3 * patch}};
  int64_t tokens;
  check(mille_package_size_value(package, sizes, 2, "image_tokens", &tokens) ==
                MILLE_OK &&
            tokens == 1 + 13 * 3,
        "the tokens of an image");
  check(mille_package_size_value(package, sizes, 1, "image_tokens", &tokens) ==
                MILLE_OK &&
            tokens == 0,
        "the tokens of an image without a width");
  refuse(MILLE_INVALID_ARGUMENT,
         mille_package_size_value(package, sizes, 2, "tokens", &tokens),
         mille_package_message(package),
         "model tiny has no size 'tokens'; its sizes are batch, height, width, "
         "image_tokens");
}

int main(int count, char **arguments) {
  (void)count;
  static const int64_t sizes[][2] = {{12, 20}, {32, 8},  {12, 20}, {4, 4},
                                     {12, 12}, {32, 32}, {20, 12}};
  char message[512];
  check(mille_package_open(tiny_model(), arguments[1], NULL, &package, message,
                           sizeof message) == MILLE_OK,
        message);
  for (int i = 0; i < most; ++i)
    pixels[i] = sinf(0.37f * i * i);
  mille_session *all = create(2, 32, 32, 3);
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int batch = 1; batch <= 2; ++batch) {
      const int64_t h = sizes[i][0], w = sizes[i][1];
      mille_session *one = create(batch, h, w, 1);
      run(all, 0, batch, h, w);
      run(one, 1, batch, h, w);
      mille_session_close(one);
      check(memcmp(got[0], got[1], sizeof got[0]) == 0 &&
                memcmp(pooled[0], pooled[1], batch * columns * 4) == 0,
            "a session of this size and one of several sizes differ");
    }
  refuseRuns(all);
  mille_session_close(all);
  refuseSessions();
  askSizes();
  mille_package_close(package);
  printf("%d checks\n", checks);
  return 0;
}
