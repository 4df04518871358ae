// Whether a pool's other threads pay, by what its jobs took and what the caller
// alone would have taken. Must not read a clock: it is told.
#pragma once
#include <stdint.h>

namespace mille {

// Times are in nanoseconds. What a core gives to another process, a pool's thread
// loses in the middle of a task, and the caller waits for it: below one thread.
// Gains and losses are added up; where losses are ahead, the caller works alone for
// a while, for twice as long each time until the others pay again.
class Profit {
public:
  bool alone(int64_t now) const { return now < aloneUntil; }

  // Whether to measure the job that begins now: a thread's clock takes 0.2 us.
  bool measures(int64_t now) const { return now - measured > between; }

  // A job of `count` tasks, of which the caller did `mine` in `own` of its own time:
  // it may have lost its core as well.
  void add(int64_t began, int64_t ended, int64_t own, int64_t mine, int64_t count) {
    measured = began;
    const int64_t byItself = mine ? own * count / mine : own;
    gain += byItself - (ended - began);
    if (gain > most) {
      gain = most;
      pause = least;
    }
    if (gain > -loss)
      return;
    gain = 0;
    aloneUntil = ended + pause;
    pause = pause * 2 < longest ? pause * 2 : longest;
  }

private:
  static constexpr int64_t between = 200000;                     // 0.2 ms
  static constexpr int64_t most = 5000000, loss = 1000000;       // 5 ms, 1 ms
  static constexpr int64_t least = 8000000, longest = 256000000; // 8 ms to 0.26 s
  int64_t gain = 0, pause = least, aloneUntil = INT64_MIN, measured = INT64_MIN / 2;
};

} // namespace mille
