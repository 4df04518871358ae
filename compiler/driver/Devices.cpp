// `mille devices`: what this machine can run on.
// Must not need a model or a package.
#include "compiler/driver/Command.h"
#include "compiler/driver/Machine.h"
#include "compiler/halide/Generate.h"
#include "runtime/mille.h"
#include "llvm/Support/Format.h"

using namespace mille;

static std::string inUnits(uint64_t bytes) {
  static const char *units[] = {"B", "KB", "MB", "GB"};
  unsigned unit = 0;
  double size = bytes;
  for (; size >= 1024 && unit < 3; ++unit)
    size /= 1024;
  char text[32];
  snprintf(text, sizeof text, size < 10 && size != int(size) ? "%.1f %s"
                                                            : "%.0f %s",
           size, units[unit]);
  return text;
}

static const char *nameOf(mille_device_kind kind) {
  switch (kind) {
  case MILLE_DEVICE_CPU: return "CPU";
  case MILLE_DEVICE_GPU: return "GPU";
  case MILLE_DEVICE_ACCELERATOR: return "accelerator";
  case MILLE_DEVICE_OTHER: break;
  }
  return "device";
}

static void listOpencl(llvm::raw_ostream &out) {
  std::vector<mille_device> devices(64);
  size_t count = 0;
  char message[512] = "";
  if (mille_opencl_devices(devices.data(), devices.size(), &count, message,
                           sizeof message) != MILLE_OK) {
    out << "opencl: " << message << '\n';
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const mille_device &device = devices[i];
    out << "opencl " << i << ": " << device.name << " (" << nameOf(device.kind)
        << ")\n"
        << "  version    " << device.version << '\n'
        << "  driver     " << device.driver << '\n'
        << "  units      " << device.units << " at " << device.megahertz
        << " MHz, " << device.group_items << " work-items in a group\n"
        << "  memory     " << inUnits(device.memory_bytes)
        << ", a buffer up to " << inUnits(device.largest_buffer) << ", local "
        << inUnits(device.local_bytes)
        << (device.features & MILLE_DEVICE_SHARES_MEMORY ? ", the CPU's" : "")
        << '\n'
        << "  computes   f32"
        << (device.features & MILLE_DEVICE_F16 ? ", f16" : "")
        << (device.features & MILLE_DEVICE_F64 ? ", f64" : "") << '\n';
  }
}

Status mille::listDevices(llvm::raw_ostream &out) {
  Machine machine = describeMachine();
  out << "cpu: " << machine.cpu << " (" << machine.processor << ")\n"
      << "  features   " << featureNames(machine.features) << '\n'
      << "  cores      " << machine.cores << '\n'
      << "  memory     " << inUnits(machine.memoryBytes) << '\n';
  for (const Cache &cache : machine.caches)
    out << "  cache      L" << cache.level << ' ' << cache.kind << ' '
        << inUnits(cache.bytes) << '\n';
  bool chosen = false;
  for (const Isa &isa : knownIsas()) {
    bool runs = (isa.features & ~machine.features) == 0;
    out << "  kernels    " << llvm::left_justify(isa.name, 12);
    if (!runs)
      out << "lacks " << featureNames(isa.features & ~machine.features);
    else
      out << (chosen ? "runs" : "runs, chosen first");
    out << '\n';
    chosen |= runs;
  }
  listOpencl(out);
  out << "reference: in double, on any machine (--target=reference)\n";
  return Status::done;
}
