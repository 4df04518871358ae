// `mille devices`: lists the CPU and the devices of this machine, and their
// peaks.
// Must not need a model or a package.
#include "compiler/driver/Command.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/machine/Machine.h"
#include "compiler/kernels/Targets.h"
#include "runtime/abi.h"
#include "runtime/mille.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace mille;
using llvm::StringRef;

static const char *nameOf(mille_device_kind kind) {
  switch (kind) {
  case MILLE_DEVICE_CPU:
    return "CPU";
  case MILLE_DEVICE_GPU:
    return "GPU";
  case MILLE_DEVICE_ACCELERATOR:
    return "accelerator";
  case MILLE_DEVICE_OTHER:
    break;
  }
  return "device";
}

static void listDevicesOf(const std::string &backend, llvm::raw_ostream &out) {
  std::vector<mille_device> devices(64);
  size_t count = 0;
  char message[512] = "";
  if (mille_devices(backend.c_str(), devices.data(), devices.size(), &count,
                    message, sizeof message) != MILLE_OK) {
    out << backend << ": " << message << '\n';
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const mille_device &device = devices[i];
    out << backend << ' ' << i << ": " << device.name << " ("
        << nameOf(device.kind) << ")\n"
        << "  version    " << device.version << '\n'
        << "  driver     " << device.driver << '\n'
        << "  units      " << device.units << " at " << device.megahertz
        << " MHz, " << device.group_items << " work-items in a group\n"
        << "  memory     " << sayBytes(device.memory_bytes)
        << ", a buffer up to " << sayBytes(device.largest_buffer) << ", local "
        << sayBytes(device.local_bytes)
        << (device.features & MILLE_DEVICE_LOCAL_MEMORY ? " of its own" : "")
        << (device.features & MILLE_DEVICE_SHARES_MEMORY ? ", the CPU's" : "")
        << '\n'
        << "  computes   f32"
        << (device.features & MILLE_DEVICE_F16 ? ", f16" : "")
        << (device.features & MILLE_DEVICE_F64 ? ", f64" : "") << '\n';
  }
}

namespace {
// Each number is 0 if the machine has no such instruction.
struct Ceilings {
  double f32, bf16, int8; // 10^9 operations a second, in registers
  double readGigabytes, roundTripNanoseconds;
};
} // namespace

static Ceilings measureCeilings(unsigned threads) {
  return {measurePeakGflops(NumberType::f32, threads),
          measurePeakGflops(NumberType::bf16, threads),
          measurePeakGflops(NumberType::int8, threads),
          measureReadGigabytes(threads), measureRoundTripNanoseconds()};
}

static void printCeiling(StringRef name, double ceiling, const char *unit,
                         const char *none, llvm::raw_ostream &out) {
  out << "  " << llvm::left_justify(name, 11);
  if (ceiling > 0)
    out << llvm::format("%.1f %s\n", ceiling, unit);
  else
    out << "not available: " << none << '\n';
}

static void printColumns(const HostMachine &machine, llvm::raw_ostream &out) {
  out << "cpu: " << machine.cpu << " (" << machine.processor << ")\n"
      << "  features   " << featureNames(machine.features) << '\n'
      << "  cores      " << machine.cores << '\n'
      << "  memory     " << sayBytes(machine.memoryBytes) << '\n';
  for (const Cache &cache : machine.caches)
    out << "  cache      L" << cache.level << ' ' << cache.kind << ' '
        << sayBytes(cache.bytes) << '\n';
  uint64_t most = 0;
  for (const Target &isa : knownTargets())
    if (!isa.isDevice())
      most = std::max(most, mille_cpu_worth(isa.features, machine.features));
  bool chosen = false;
  for (const Target &isa : knownTargets()) {
    if (isa.isDevice())
      continue;
    const uint64_t worth = mille_cpu_worth(isa.features, machine.features);
    out << "  kernels    " << llvm::left_justify(isa.name, 15);
    const bool first = worth == most && !chosen;
    if (!worth)
      out << "lacks " << featureNames(isa.features & ~machine.features);
    else
      out << (first ? "runs, chosen first" : "runs");
    out << '\n';
    chosen |= first;
  }
  llvm::StringSet<> backends;
  for (const Target &target : knownTargets())
    if (target.isDevice() && backends.insert(target.backend).second)
      listDevicesOf(target.backend, out);
  out << "reference: in double, on any machine (--target=reference)\n";
}

static void printCeilings(const Ceilings &ceilings, unsigned threads,
                          llvm::raw_ostream &out) {
  out << "measured on " << threads << (threads == 1 ? " thread" : " threads")
      << ", operations in registers:\n";
  const char *unit = "GFLOP/s";
  printCeiling("f32", ceilings.f32, unit, "no avx2", out);
  printCeiling("bf16", ceilings.bf16, unit, "no avx512_bf16", out);
  printCeiling("int8", ceilings.int8, "GOP/s", "no avx512_vnni", out);
  printCeiling("reading", ceilings.readGigabytes, "GB/s", "no avx2", out);
  printCeiling("round trip", ceilings.roundTripNanoseconds,
               "ns from one core to another and back", "one core", out);
}

static void printJson(const HostMachine &machine, const Ceilings *ceilings,
                      unsigned threads, llvm::raw_ostream &out) {
  llvm::json::OStream json(out, 2);
  auto number = [&](StringRef key, double value) {
    if (value > 0)
      json.attribute(key, value);
    else
      json.attribute(key, nullptr);
  };
  json.object([&] {
    json.attribute("cpu", machine.cpu);
    json.attribute("processor", machine.processor);
    json.attribute("features", featureNames(machine.features));
    json.attribute("cores", int64_t(machine.cores));
    json.attribute("memory_bytes", int64_t(machine.memoryBytes));
    if (!ceilings)
      return;
    json.attribute("threads", int64_t(threads));
    json.attributeObject("peak_gflops", [&] {
      number("f32", ceilings->f32);
      number("bf16", ceilings->bf16);
      number("int8", ceilings->int8);
    });
    number("read_gb_per_s", ceilings->readGigabytes);
    number("round_trip_ns", ceilings->roundTripNanoseconds);
  });
  out << '\n';
}

Status mille::devicesCommand(const DevicesOptions &options, mlir::MLIRContext &,
                             llvm::raw_ostream &out) {
  HostMachine machine = describeMachine();
  Ceilings ceilings;
  if (options.measure)
    ceilings = measureCeilings(options.threads);
  if (options.json) {
    printJson(machine, options.measure ? &ceilings : nullptr, options.threads,
              out);
    return Status::done;
  }
  printColumns(machine, out);
  if (options.measure)
    printCeilings(ceilings, options.threads, out);
  return Status::done;
}
