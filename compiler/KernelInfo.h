// What rooms say about kernels to each other: instruction sets, row classes,
// and what the host program must know of a kernel. Names no generator.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mille {

// An instruction set, or kind of device, we generate for, from a closed list.
struct Isa {
  std::string name;         // "x86-64-v3", "x86-64-v4", "cascadelake", "zen4",
                            // "sapphirerapids"
  std::string halideTarget; // "x86-64-linux-avx512_zen4-..."
  uint64_t features;        // MILLE_CPU_* of runtime/abi.h
  std::string backend = ""; // of devices: "opencl"; "": this CPU
  // As LLVM, which makes the object, names it; halideTarget can be a newer
  // one's, where Halide has none for it. "": a device, whose object is Halide's
  // own.
  std::string cpu = "";
};

// Rows a kernel is scheduled for: up to KernelInfo's fewRows, or more.
enum class RowClass { few, many };

// Which of its tiles a kernel gets for an instruction set: 0 is what the model
// of the core finds best, n what it finds next (Generate.h, tilesOf).
struct TileRanks {
  unsigned others = 0; // of kernels without a rank of their own
  std::map<std::pair<std::string, std::string>, unsigned> chosen; // kernel, isa

  unsigned of(const std::string &kernel, const std::string &isa) const {
    auto rank = chosen.find({kernel, isa});
    return rank == chosen.end() ? others : rank->second;
  }
};

// What the host program must know about a kernel; mirrors mille_kernel.
struct KernelInfo {
  std::string name; // mille_k_<hash of the op and the schedule version>
  uint32_t partition, bufferCount, scalarCount, columnUnit, rowUnit, fewRows;
  uint32_t keyUnit;
  bool narrow = false; // a matmul of bf16 or of bytes
  uint64_t flopsPerRow, bytesWeights;
  std::vector<int8_t> rowDimension;
  uint64_t scratchBytes, scratchBytesPerToken; // heap temporaries per thread
};

} // namespace mille
