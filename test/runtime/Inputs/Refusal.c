/* The n-th call for memory, a thread or a file is refused, n = 1, 2, ... until
 * a whole life of a package succeeds: a status each time, and nothing is kept.
 * The system's calls are wrapped by the linker. argv[1]: a weights file. */
#include "FakeModel.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuseAt, calls, refusedErrno;
static int blocks, mappings, threads, files;

static int refuse(void) {
  if (++calls != refuseAt)
    return 0;
  errno = refusedErrno;
  return 1;
}

static void *allocate(void *user, size_t size, size_t alignment) {
  CHECK(user == &blocks && alignment == 64);
  void *memory = NULL;
  if (refuse() || posix_memalign(&memory, alignment, size))
    return NULL;
  ++blocks;
  memset(memory, 0xcd, size); /* nobody relies on zeros */
  return memory;
}

static void release(void *user, void *memory) {
  CHECK(user == &blocks && memory);
  --blocks;
  free(memory);
}

void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file,
                  off_t offset) {
  if (refuse())
    return MAP_FAILED;
  ++mappings;
  return __real_mmap(at, size, protection, flags, file, offset);
}

int __real_munmap(void *, size_t);
int __wrap_munmap(void *at, size_t size) {
  --mappings;
  return __real_munmap(at, size);
}

int __real_open(const char *, int, ...);
int __wrap_open(const char *path, int flags, ...) {
  if (refuse())
    return -1;
  ++files;
  return __real_open(path, flags);
}

int __real_close(int);
int __wrap_close(int file) {
  --files;
  return __real_close(file);
}

int __real_fstat(int, struct stat *);
int __wrap_fstat(int file, struct stat *status) {
  return refuse() ? -1 : __real_fstat(file, status);
}

ssize_t __real_pread(int, void *, size_t, off_t);
ssize_t __wrap_pread(int file, void *into, size_t size, off_t at) {
  return refuse() ? -1 : __real_pread(file, into, size, at);
}

int __real_pthread_create(pthread_t *, const pthread_attr_t *,
                          void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*enter)(void *), void *argument) {
  if (refuse())
    return EAGAIN;
  ++threads;
  return __real_pthread_create(thread, attributes, enter, argument);
}

int __real_pthread_join(pthread_t, void **);
int __wrap_pthread_join(pthread_t thread, void **result) {
  --threads;
  return __real_pthread_join(thread, result);
}

static int32_t ids[64];
static float hidden[64 * fakeHidden], pooled[2 * fakeHidden];
static float wantedHidden[64 * fakeHidden], wantedPooled[2 * fakeHidden];

/* What is said of a refusal. */
static const char *const forms[] = {
    "a package needs # bytes but memory was refused",
    "cannot open ",
    "cannot map the # bytes of ",
    "cannot map /",
    "cannot read /",
    "the # bytes of ",
    "a session needs # bytes but memory was refused",
    ("a session of batch 2, tokens 32 on # threads needs # bytes but "
     "memory was refused: the machine has #"),
    "cannot start # threads: Resource temporarily unavailable",
    "cannot read the size of "};
enum { formCount = sizeof forms / sizeof *forms };
static unsigned seen;

/* A package, two sessions, runs; whether all of it succeeded. */
static int live(const char *path, int copy) {
  mille_options options = MILLE_OPTIONS_INIT;
  options.copy_weights = copy;
  options.allocate = allocate;
  options.release = release;
  options.memory_user = &blocks;
  mille_package *package;
  mille_session *sessions[2] = {NULL, NULL};
  const void *inputs[4] = {ids, NULL, NULL, NULL};
  float *outputs[2] = {hidden, pooled};
  char message[512] = "";
  mille_status status = mille_package_open(fake_model(), path, &options,
                                           &package, message, sizeof message);
  if (status != MILLE_OK) {
    CHECK(status == MILLE_OUT_OF_MEMORY || status == MILLE_FILE_ERROR);
    fake_seen(message, forms, formCount, &seen);
    if (strncmp(message, "the ", 4) == 0)
      CHECK(strstr(message, " need memory but it was refused"));
    return 0;
  }
  int whole = 1;
  for (int s = 0; s < 2 && whole; ++s) {
    status = mille_session_create(package, 2, 32, 3 + s, &sessions[s]);
    whole = status == MILLE_OK;
    if (!whole) {
      CHECK(status == MILLE_OUT_OF_MEMORY && sessions[s] == NULL);
      fake_seen(mille_package_message(package), forms, formCount, &seen);
    }
  }
  for (int s = 0; s < 2; ++s)
    if (sessions[s]) {
      /* A run asks for nothing. */
      int before = calls;
      CHECK(mille_session_run(sessions[s], 2, 32, inputs, outputs) == MILLE_OK);
      CHECK(before == calls);
      CHECK(memcmp(hidden, wantedHidden, sizeof hidden) == 0);
      CHECK(memcmp(pooled, wantedPooled, sizeof pooled) == 0);
    }
  /* The package's handle may go first. */
  CHECK(mille_package_close(package) == MILLE_OK);
  for (int s = 0; s < 2; ++s)
    CHECK(mille_session_close(sessions[s]) == MILLE_OK);
  return whole;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  fake_write_weights(argv[1]);
  fake_expected(2, 32, ids, NULL, NULL, wantedHidden, wantedPooled);
  static const int errors[] = {ENOMEM, EMFILE};
  int refusals = 0;
  for (int e = 0; e < 4; ++e) {
    refusedErrno = errors[e / 2];
    int whole = 0;
    for (refuseAt = 1; !whole; ++refuseAt) {
      calls = 0;
      whole = live(argv[1], e % 2);
      CHECK(blocks == 0 && mappings == 0 && threads == 0 && files == 0);
      CHECK(whole == (calls < refuseAt));
    }
    /* 1 package, open, fstat, mmap or memory and pread, 2 x 2 of memory, 2 + 3
     * threads */
    CHECK(refuseAt - 2 == 13 + e % 2);
    refusals += refuseAt - 2;
  }
  CHECK(seen == (1u << formCount) - 1);
  printf("%d refusals, nothing leaks\n", refusals);
  return 0;
}
