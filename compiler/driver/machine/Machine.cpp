// Describes this machine: name, features, cores, caches.
// Must not know a model or a package.
#include "compiler/driver/machine/Machine.h"

#include "runtime/abi.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

#include <sched.h>
#include <unistd.h>

using namespace mille;
using llvm::StringRef;

// The text of a file of /proc or /sys, or "". These files report a size of 0.
static std::string readWhole(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

static std::string cpuName() {
  std::string text = readWhole("/proc/cpuinfo");
  for (StringRef line : llvm::split(StringRef(text), '\n'))
    if (line.starts_with("model name"))
      return line.split(':').second.trim().str();
  return "unknown";
}

static unsigned usableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return CPU_COUNT(&set);
  return 1;
}

// "32K" -> 32768.
static uint64_t sizeOf(StringRef text) {
  uint64_t number = 0;
  text = text.trim();
  if (text.consumeInteger(10, number))
    return 0;
  if (text.starts_with("K"))
    return number << 10;
  return text.starts_with("M") ? number << 20 : number;
}

static std::vector<Cache> cachesOfFirstCore() {
  std::vector<Cache> caches;
  for (unsigned i = 0; i < 8; ++i) {
    std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    std::string kind = StringRef(readWhole(folder + "type")).trim().lower();
    if (kind.empty())
      break;
    unsigned level = 0;
    StringRef(readWhole(folder + "level")).trim().getAsInteger(10, level);
    if (kind != "instruction")
      caches.push_back({level, kind, sizeOf(readWhole(folder + "size"))});
  }
  return caches;
}

HostMachine mille::describeMachine() {
  HostMachine machine;
  machine.cpu = cpuName();
  machine.processor = llvm::sys::getHostCPUName().str();
  machine.cores = usableCores();
  machine.memoryBytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  machine.caches = cachesOfFirstCore();
  machine.features = mille_cpu_features(); // the test that packages use too
  return machine;
}

// The bytes left below a limit of the process group; no limit gives the
// maximum.
static uint64_t leftOf(const std::string &limitPath,
                       const std::string &usedPath) {
  uint64_t limit = 0, used = 0;
  if (StringRef(readWhole(limitPath)).trim().getAsInteger(10, limit) ||
      StringRef(readWhole(usedPath)).trim().getAsInteger(10, used))
    return UINT64_MAX;
  return limit > used ? limit - used : 0;
}

uint64_t mille::availableMemory() {
  std::string info = readWhole("/proc/meminfo");
  uint64_t kilobytes = 0;
  StringRef line = StringRef(info).split("MemAvailable:").second;
  if (line.ltrim().consumeInteger(10, kilobytes))
    return 0;
  const std::string group = "/sys/fs/cgroup/";
  return std::min({kilobytes << 10,
                   leftOf(group + "memory.max", group + "memory.current"),
                   leftOf(group + "memory/memory.limit_in_bytes",
                          group + "memory/memory.usage_in_bytes")});
}

std::string mille::featureNames(uint64_t features) {
  static const std::pair<uint64_t, const char *> names[] = {
      {MILLE_CPU_AVX2, "avx2"},
      {MILLE_CPU_AVX512, "avx512"},
      {MILLE_CPU_AVX512_BF16, "avx512_bf16"},
      {MILLE_CPU_AVX512_VNNI, "avx512_vnni"},
      {MILLE_CPU_AVX512_VBMI2, "avx512_vbmi2"},
      {MILLE_CPU_AMX, "amx"},
      {MILLE_CPU_AVX_VNNI, "avx_vnni"},
      {MILLE_CPU_SLOW_BF16, "slow_bf16"}};
  std::string text;
  for (auto [bit, name] : names)
    if (features & bit)
      text += (text.empty() ? "" : ", ") + std::string(name);
  return text.empty() ? "none" : text;
}
