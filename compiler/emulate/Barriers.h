// mbarriers, named barriers and the barrier of a cluster.
#pragma once
#include "compiler/emulate/Clocks.h"

#include <string>

namespace mille::emulate {

class Machine;

class Barriers {
public:
  explicit Barriers(Machine &machine) : machine(machine) {}
  void restart();
  void checkEnd();

  // mbarriers; an address is of any block of the cluster.
  void init(void *address, int count);
  void fenceInit();
  void wait(void *address, int parity);
  void arrive(void *address, int count, int bytes);
  // What a copy does with one: the phase that it completes; its bytes.
  int at(void *address, bool byCopy);
  int phase(int barrier) const { return all[barrier].phase; }
  void complete(int barrier, int bytes);

  // Named barriers of the running thread's block. count < 0: all threads.
  void sync(int id, int count) { arriveNamed(id, count, true); }
  void arriveNamed(int id, int count) { arriveNamed(id, count, false); }
  void clusterArrive();
  void clusterWait();

  // For the scheduler.
  bool phaseIsOver(int64_t barrier, int64_t parity) const {
    return (all[barrier].phase & 1) != parity;
  }
  int64_t generation(int64_t barrier) const {
    return named[barrier].generation;
  }
  int64_t clusterGeneration() const { return cluster.generation; }
  std::string mbarrierText(int64_t barrier, int64_t parity) const;
  std::string barrierText(int64_t barrier) const;

private:
  struct Mbarrier {
    int64_t offset;
    int expected, pending, bytes, phase;
    int by, byClock; // who initialised it, and when
    bool fenced;
    Knowledge gathering, over;
  };
  struct Named {
    int arrived = 0, expected = 0;
    int64_t generation = 0;
    Knowledge gathering, over;
    std::vector<char> in; // by thread
  };

  void arriveNamed(int id, int count, bool waits);
  void finishPhase(int barrier);
  void enter(Named &barrier, int expected);

  Machine &machine;
  std::vector<int> index; // by offset / 8: number of the mbarrier, plus 1
  std::vector<Mbarrier> all;
  std::vector<Named> named;
  Named cluster;
  std::vector<int64_t> clusterTurn; // by thread: what its wait waits for
};

} // namespace mille::emulate
