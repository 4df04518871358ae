// Calls the generators in the order of the list. Must not choose tiles itself.
#include "compiler/kernels/Describe.h"
#include "compiler/kernels/Generator.h"
#include "compiler/kernels/ReadSpec.h"
#include "runtime/abi.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mille;
using llvm::StringRef;

static std::string nameOf(const KernelSpec &spec, StringRef versions) {
  std::string text = canonicalText(spec) + "\n" + versions.str();
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return "mille_k_" +
         llvm::toHex(llvm::ArrayRef(digest.data(), digest.size()), true)
             .substr(0, 16);
}

bool Generator::makes(const KernelSpec &spec, const Target &target) const {
  return serves(target) && (spec.joined.empty() || joins(target)) &&
         declines(spec, target).empty();
}

std::string mille::kernelSymbol(const KernelInfo &info, const Target &target,
                                RowClass rows) {
  const bool own = info.has(rows, target.name);
  if (rows == RowClass::join && (!own || target.isDevice()))
    return "";
  std::string name = target.name;
  std::replace(name.begin(), name.end(), '-', '_');
  const char *which = !own || rows == RowClass::many ? "_many_argv"
                      : rows == RowClass::few        ? "_few_argv"
                                                     : "_join_argv";
  return info.name + "_" + name + which;
}

KernelInfo Generators::describe(const KernelSpec &spec) const {
  KernelInfo info = describeSpec(spec);
  std::string versions;
  for (const Generator *one : all) {
    versions += one->version();
    one->describe(spec, info);
  }
  info.name = nameOf(spec, versions);
  for (const Target &target : knownTargets())
    if (const Generator *maker = makerOf(spec, target);
        maker && maker->hasClasses(spec, target))
      info.classes.insert(target.name);
  return info;
}

KernelInfo Generators::describe(mlir::Operation *op) const {
  KernelSpec spec;
  return failed(readSpec(op, spec)) ? KernelInfo() : describe(spec);
}

const Generator *Generators::makerOf(const KernelSpec &spec,
                                     const Target &target) const {
  for (const Generator *one : all)
    if (one->makes(spec, target))
      return one;
  return nullptr;
}

std::vector<std::string> Generators::tiles(mlir::Operation *op,
                                           const Target &target) const {
  KernelSpec spec;
  if (failed(readSpec(op, spec)))
    return {};
  const Generator *maker = makerOf(spec, target);
  return maker ? maker->tiles(spec, target) : std::vector<std::string>();
}

unsigned Generators::serving(const Target &target) const {
  return llvm::count_if(
      all, [&](const Generator *one) { return one->serves(target); });
}

std::string Generators::maker(mlir::Operation *op, const Target &target) const {
  KernelSpec spec;
  if (serving(target) < 2 || failed(readSpec(op, spec)))
    return "";
  const Generator *maker = makerOf(spec, target);
  return maker ? maker->name() : "";
}

// Why those who serve a target, but its maker, do not make a kernel.
std::string Generators::declines(const KernelSpec &spec,
                                 const Target &target) const {
  const Generator *maker = makerOf(spec, target);
  std::vector<std::string> texts;
  for (const Generator *one : all) {
    if (!one->serves(target) || one == maker)
      continue;
    if (std::string why = one->declines(spec, target); !why.empty())
      texts.push_back(serving(target) < 2
                          ? why
                          : one->name() + " does not make it: " + why);
  }
  return llvm::join(texts, "; ");
}

// Who makes a kernel of a target that several generators serve.
std::string Generators::explainMaker(const KernelSpec &spec,
                                     const Target &target) const {
  const Generator *maker = makerOf(spec, target);
  if (serving(target) < 2 || !maker)
    return "";
  const std::string declined = declines(spec, target);
  return "made by " + maker->name() + (declined.empty() ? "" : "; " + declined);
}

std::vector<std::string> Generators::explainTiles(mlir::Operation *op,
                                                  const Target &target) const {
  KernelSpec spec;
  if (failed(readSpec(op, spec)))
    return {};
  const Generator *maker = makerOf(spec, target);
  if (!maker)
    return {};
  std::vector<std::string> texts = maker->explainTiles(spec, target);
  if (std::string who = explainMaker(spec, target); !who.empty())
    texts.insert(texts.begin(), who);
  return texts;
}

std::vector<std::string>
Generators::warnings(llvm::ArrayRef<Target> targets) const {
  std::vector<std::string> texts;
  for (const Generator *one : all)
    if (llvm::any_of(targets,
                     [&](auto &target) { return one->serves(target); }))
      if (std::string text = one->warning(); !text.empty())
        texts.push_back(text);
  if (targets.size() > 1 && !panels(targets).inRows)
    for (const Target &target : targets)
      if (panels(target).inRows)
        texts.push_back("weights are in panels, which kernels for all targets "
                        "of the package read; kernels for " +
                        target.name +
                        " that multiply by rows of weights, on tensor cores, "
                        "need --target=" +
                        target.name + " alone");
  return texts;
}

static mlir::InFlightDiagnostic noKernel(mlir::Operation *op,
                                         const Target &target) {
  mlir::InFlightDiagnostic error = op->emitError("no kernel of ");
  error << op->getName().stripDialect() << " for " << target.name << ": ";
  return error;
}

// Of a kernel that nobody makes. A model may be given with what devices have no
// kernels for.
Status Generators::refuse(mlir::Operation *op, const KernelSpec &spec,
                          const Target &target) const {
  const std::string declined = declines(spec, target);
  noKernel(op, target) << (declined.empty() ? "no generator makes it"
                                            : declined);
  return declined.empty() ? Status::bug : Status::input;
}

Status Generators::generate(mlir::Operation *op, const Target &target,
                            RowClass rows, bool useCache, std::string &object,
                            unsigned rank) const {
  KernelSpec spec;
  if (failed(readSpec(op, spec)))
    return Status::bug;
  KernelInfo info = describe(spec);
  bool few = rows == RowClass::few && info.has(rows, target.name);
  KernelRequest request{spec,
                        target,
                        kernelSymbol(info, target, rows),
                        few,
                        rank,
                        useCache,
                        rows == RowClass::join};
  const Generator *maker = makerOf(spec, target);
  if (!maker)
    return refuse(op, spec, target);
  KernelReport report;
  if (maker->generate(request, object, report)) {
    if (!report.warning.empty())
      op->emitWarning("a kernel for ")
          << target.name << " is slower than it should be: " << report.warning;
    return Status::done;
  }
  mlir::InFlightDiagnostic error = noKernel(op, target);
  error << report.problem;
  if (!report.help.empty())
    error.attachNote() << "help: " << report.help;
  return report.blame;
}

PanelWidths Generators::panels(llvm::ArrayRef<Target> targets) const {
  std::optional<PanelWidths> widths;
  for (const Target &target : targets)
    for (const Generator *one : all)
      if (one->serves(target)) {
        PanelWidths its = one->panels(target);
        widths = widths ? commonTo(*widths, its) : its;
      }
  return widths.value_or(PanelWidths());
}

// The program is one for all targets, and a CPU loses little.
bool Generators::turnFirst(llvm::ArrayRef<Target> targets) const {
  for (const Target &target : targets)
    for (const Generator *one : all)
      if (one->serves(target) && one->turnsFirst(target))
        return true;
  return false;
}

// The program is one for all targets, so one without joined rows decides.
bool Generators::join(llvm::ArrayRef<Target> targets) const {
  return llvm::all_of(targets, [&](const Target &target) {
    return llvm::any_of(all, [&](const Generator *one) {
      return one->serves(target) && one->joins(target);
    });
  });
}

bool Generators::joins(mlir::Operation *op,
                       llvm::ArrayRef<Target> targets) const {
  KernelSpec spec;
  return !failed(readSpec(op, spec)) &&
         describeSpec(spec).bufferCount <= MILLE_MAX_BUFFERS &&
         llvm::all_of(targets, [&](const Target &target) {
           return makerOf(spec, target) != nullptr;
         });
}
