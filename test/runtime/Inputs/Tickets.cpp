// A job of more tasks than a ticket can count: each runs once.
#include "runtime/Pool.h"

#include <cstdio>
#include <cstdlib>

static unsigned char *runs;
static void once(void *, int64_t task, int) {
  __atomic_fetch_add(&runs[task], 1, __ATOMIC_RELAXED);
}

int main() {
  const int64_t count = (int64_t(1) << 24) + 5;
  runs = static_cast<unsigned char *>(std::calloc(count + 1, 1));
  static mille::Pool pool;
  if (!runs || pool.start(2))
    return 2;
  pool.run(once, nullptr, count);
  pool.stop();
  for (int64_t task = 0; task <= count; ++task)
    if (runs[task] != (task < count)) {
      std::printf("task %lld ran %d times\n", (long long)task, runs[task]);
      return 1;
    }
  std::printf("%lld tasks, once each\n", (long long)count);
}
