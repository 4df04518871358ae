// Which code of a package --target and --device mean.
// Must not load it.
#include "compiler/driver/package/ChosenCode.h"

#include "compiler/driver/Console.h"
#include "compiler/kernels/Targets.h"
#include "llvm/ADT/StringExtras.h"

using namespace mille;

// The kind of devices meant where only a device is named.
static std::string deviceKindOf(const Package &package) {
  const std::vector<std::string> kinds = deviceTargetNames();
  for (const Package::Isa &isa : package.isas)
    if (llvm::is_contained(kinds, isa.name))
      return isa.name;
  return kinds.front();
}

Status mille::codeFor(const Package &package, const std::string &target,
                      const std::string &device, std::string &code) {
  const std::string on = target.empty() ? deviceKindOf(package) : target;
  code = device.empty() ? target : on + ":" + device;
  const Target *known = targetNamed(on);
  if (!device.empty() && !(known && known->isDevice()))
    return refuseOptions("--device is '" + device + "' but --target is '" +
                             target + "', which runs on no device",
                         "mille devices");
  return Status::done;
}

Status mille::checkCode(const Package &package, const std::string &code) {
  std::string isa = llvm::StringRef(code).split(':').first.str();
  auto name = [](const Package::Isa &isa) { return isa.name; };
  auto names = llvm::map_range(package.isas, name);
  if (isa.empty() || isa == "reference" || llvm::is_contained(names, isa))
    return Status::done;
  return refuseOptions("--target is '" + isa + "' but package " + package.name +
                           " holds " + llvm::join(names, ", "),
                       "mille compile MODEL --target=" + isa + " -o DIR");
}
