// Who makes kernels: what a room gives that turns specs into objects for some
// targets, and the list of such rooms. Must not know one of them.
#pragma once
#include "compiler/Status.h"
#include "compiler/kernels/KernelInfo.h"
#include "compiler/kernels/Panels.h"
#include "compiler/kernels/Targets.h"
#include "mlir/IR/Operation.h"

namespace mille {

struct KernelSpec; // Spec.h

// One object: of one kernel, for one target and row class.
struct KernelRequest {
  const KernelSpec &spec;
  const Target &target;
  std::string symbol; // of its entry, in the calling convention of abi.h
  bool few;           // few rows, which have a kernel of their own
  unsigned rank;      // of its tile
  bool useCache;      // on disk
};

class Generator {
public:
  virtual ~Generator() = default;

  // Part of the name of every kernel: another version, another kernel.
  virtual std::string version() const = 0;
  // Whether it makes kernels for a target at all, and whether this one.
  virtual bool serves(const Target &target) const = 0;
  virtual bool makes(const KernelSpec &, const Target &target) const {
    return serves(target);
  }
  virtual PanelWidths panels(const Target &target) const = 0;

  // Raises what the host is told to what its kernels need: row unit, few rows,
  // key unit, scratch.
  virtual void describe(const KernelSpec &spec, KernelInfo &info) const = 0;
  // Whether few rows have a kernel of their own.
  virtual bool hasClasses(const KernelSpec &spec,
                          const Target &target) const = 0;

  // The tiles that a kernel may have, in words: first the best by a model, then
  // those that it finds nearly as good. None where there is no choice.
  virtual std::vector<std::string> tiles(const KernelSpec &spec,
                                         const Target &target) const = 0;
  // The tiles that it has, and why: a sentence for each.
  virtual std::vector<std::string> explainTiles(const KernelSpec &spec,
                                                const Target &target) const = 0;

  // The object's bytes, or a sentence in `problem`. From several threads.
  virtual bool generate(const KernelRequest &request, std::string &object,
                        std::string &problem) const = 0;
};

// The symbol of one variant's entry: <name>_<target>_<few|many>_argv, '-' in
// the target as '_'. Where both row classes are one kernel both give the same
// symbol: generate and link each symbol once.
std::string kernelSymbol(const KernelInfo &info, const Target &target,
                         RowClass rows);

// Those that there are. The first that makes a kernel for a target gives it.
class Generators {
public:
  explicit Generators(std::vector<const Generator *> all)
      : all(std::move(all)) {}

  // Of a kernel op on memrefs. Without a name after an error at the op.
  KernelInfo describe(mlir::Operation *kernelOp) const;
  // As Generator's; none, and an error at the op, where nobody makes it.
  std::vector<std::string> tiles(mlir::Operation *kernelOp,
                                 const Target &target) const;
  std::vector<std::string> explainTiles(mlir::Operation *kernelOp,
                                        const Target &target) const;
  Status generate(mlir::Operation *kernelOp, const Target &target,
                  RowClass rows, bool useCache, std::string &object,
                  unsigned rank = 0) const;
  // What kernels of all these targets read.
  PanelWidths panels(llvm::ArrayRef<Target> targets) const;
  // Null: nobody.
  const Generator *makerOf(const KernelSpec &spec, const Target &target) const;

private:
  KernelInfo describe(const KernelSpec &spec) const;

  const std::vector<const Generator *> all;
};

} // namespace mille
