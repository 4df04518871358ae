// When a pool works alone: on times that are told, no clock.
#include "runtime/Profit.h"

#include <cstdio>

using mille::Profit;

static int failures = 0;
static void expect(bool holds, const char *what) {
  if (!holds) {
    printf("%s\n", what);
    ++failures;
  }
}

constexpr int64_t us = 1000, ms = 1000 * us;

// A job of 10 tasks of which the caller does 5 in `own`, over after `took`.
static void job(Profit &profit, int64_t &now, int64_t own, int64_t took) {
  profit.add(now, now + took, own, 5, 10);
  now += took;
}

int main() {
  int64_t now = 0;
  Profit quiet;
  for (int i = 0; i < 1000; ++i) {
    expect(!quiet.alone(now), "alone although jobs take half as long");
    job(quiet, now, 500 * us, 520 * us);
  }
  // One job that waits for a thread that lost its core.
  job(quiet, now, 500 * us, 3500 * us);
  expect(!quiet.alone(now), "alone after one loss among many gains");

  Profit disturbed;
  const int64_t pauses[] = {8, 16, 32, 64, 128, 256, 256};
  for (int64_t pause : pauses) {
    job(disturbed, now, 500 * us, 3500 * us);
    expect(disturbed.alone(now) && disturbed.alone(now + pause * ms - 1) &&
               !disturbed.alone(now + pause * ms),
           "a pause is not twice the last");
    now += pause * ms;
  }
  for (int i = 0; i < 20; ++i)
    job(disturbed, now, 500 * us, 520 * us);
  expect(!disturbed.alone(now), "alone although others pay again");
  for (int i = 0; i < 3; ++i) // 5 ms of gains, then 7.5 of losses
    job(disturbed, now, 500 * us, 3500 * us);
  expect(disturbed.alone(now) && !disturbed.alone(now + 8 * ms),
         "after gains the first pause is not the shortest");

  // Both threads on one core: the caller has half of it, and nothing is gained.
  Profit together;
  for (int i = 0; i < 40 && !together.alone(now); ++i)
    job(together, now, 500 * us, 1050 * us);
  expect(together.alone(now), "not alone although threads share a core");

  // The others did all.
  Profit idle;
  idle.add(now, now + 2 * ms, 10 * us, 0, 10);
  expect(idle.alone(now + 2 * ms), "a job without tasks of the caller");

  Profit often;
  expect(often.measures(0), "the first job is not measured");
  job(often, now, 500 * us, 520 * us);
  expect(!often.measures(now - 400 * us) && often.measures(now),
         "measured more often than every 0.2 ms");
  printf("%d failures\n", failures);
  return failures != 0;
}
