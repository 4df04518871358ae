// `mille devices`: what this machine can run on.
// Must not need a model or a package.
#include "compiler/driver/Command.h"
#include "compiler/driver/Machine.h"
#include "compiler/halide/Generate.h"
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
  out << "reference: in double, on any machine (--target=reference)\n";
  return Status::done;
}
