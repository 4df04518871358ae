// What the lanes of a warp do together: shuffles, votes, matrices of 8 x 8
// between registers and shared memory; and whether they are together at all
// where an instruction demands it.
#pragma once
#include <cstdint>
#include <vector>

namespace mille::emulate {

class Machine;

enum class Shuffle { exclusiveOr, index, up, down };
enum class Vote { any, all, ballot };

class Warps {
public:
  explicit Warps(Machine &machine) : machine(machine) {}
  void restart();
  void checkEnd();

  uint32_t shuffle(Shuffle kind, uint32_t mask, uint32_t value, int offset,
                   int clamp);
  uint32_t vote(Vote kind, uint32_t mask, bool value);
  void synchronize(uint32_t mask);
  bool elect();
  // count matrices; lane 8 m + r holds the address of row r of matrix m.
  void loadMatrices(void *address, int count, bool transposed, uint32_t *out);
  void storeMatrices(void *address, int count, bool transposed,
                     const uint32_t *values);

  // An instruction that all lanes of a warp execute at once: each lane must
  // come to the same ones in the same order.
  void aligned(int place);
  // The thread has ended.
  void leave();

  int64_t generation(int64_t warp) const { return warps[warp].generation; }

private:
  struct Lane {
    void *address;
    uint32_t value, result[4], values[4];
  };
  struct Warp {
    int arrived = 0;
    int64_t generation = 0;
    Lane lanes[32];
    std::vector<int> order; // places of aligned instructions
  };

  // All 32 lanes meet; the last one calls work(lanes).
  template <typename Work> Lane &meet(Work work);
  void checkMask(uint32_t mask);

  Machine &machine;
  std::vector<Warp> warps;
  std::vector<size_t> done; // by thread: how many aligned instructions
};

} // namespace mille::emulate
