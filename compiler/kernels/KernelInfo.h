// Facts about kernels that rooms exchange: row classes, ranks of tiles, and
// what the host program must know of a kernel. Must not name a generator.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace mille {

// The row class that a kernel is scheduled for: up to KernelInfo::fewRows rows,
// or more. Where keys come in stretches (KernelInfo::stretchKeys) the kernel of
// few rows gives parts, which `join` puts together.
enum class RowClass { few, many, join };

// Which of its tiles a kernel gets for a target, by rank in its generator's
// list: 0 is the best by the cost model (Generator.h, tiles).
struct TileRanks {
  unsigned others = 0; // the rank of kernels that are not in `chosen`
  std::map<std::pair<std::string, std::string>, unsigned>
      chosen; // kernel, target

  unsigned of(const std::string &kernel, const std::string &target) const {
    auto rank = chosen.find({kernel, target});
    return rank == chosen.end() ? others : rank->second;
  }
};

// What the host program must know of a kernel; it mirrors mille_kernel.
struct KernelInfo {
  std::string name; // mille_k_<hash of the op and the generators' versions>
  uint32_t partition = 0, bufferCount = 0, scalarCount = 0, columnUnit = 1;
  uint32_t rowUnit = 1, fewRows = 0, keyUnit = 0;
  // Of attention whose keys a CPU takes apart: the most rows of a sequence that
  // gives parts, the keys of a part (0: there are none), the bytes of a row's.
  uint32_t partRows = 0, stretchKeys = 0;
  uint64_t partBytes = 0;
  bool panels = false; // attention to a state's panels, on CPUs
  bool narrow = false; // a matmul of bf16 or bytes
  uint64_t flopsPerRow = 0, bytesWeights = 0;
  std::vector<int8_t> rowDimension;
  // The temporary memory per thread.
  uint64_t scratchBytes = 0, scratchBytesPerToken = 0;
  // Targets for which few rows have a separate kernel.
  std::set<std::string> classes;

  // Whether there is such a kernel of its own for a target.
  bool has(RowClass rows, const std::string &target) const {
    return rows == RowClass::many ||
           (classes.count(target) && (rows == RowClass::few || stretchKeys));
  }
};

} // namespace mille
