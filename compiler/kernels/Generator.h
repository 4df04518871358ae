// The interface of generators, which turn specs into objects for some targets,
// and their list. Must not know a particular generator.
#pragma once
#include "compiler/Status.h"
#include "compiler/kernels/KernelInfo.h"
#include "compiler/kernels/Panels.h"
#include "compiler/kernels/Targets.h"
#include "mlir/IR/Operation.h"

namespace mille {

struct KernelSpec; // Spec.h

// A request for the object of one kernel, for one target and row class.
struct KernelRequest {
  const KernelSpec &spec;
  const Target &target;
  std::string symbol; // its function, with the calling convention of abi.h
  bool few;           // the row class: few rows, else many
  unsigned rank;      // the rank of its tile
  bool useCache;      // use the cache on disk
  bool join = false;  // what puts the parts of few rows together
};

// What is to be said of a kernel beside its bytes.
struct KernelReport {
  std::string problem;        // a sentence, where it was not made
  Status blame = Status::bug; // whose mistake that is
  std::string help;           // what to do about it
  std::string warning;        // what it lacks, where it was made
};

class Generator {
public:
  virtual ~Generator() = default;

  // In the words of remarks and reports.
  virtual std::string name() const = 0;
  // A part of the name of every kernel, so that a new version renames them.
  virtual std::string version() const = 0;
  // Whether it makes any kernel for a target.
  virtual bool serves(const Target &target) const = 0;
  // Why it does not make this one for a target that it serves; empty if it
  // does.
  virtual std::string declines(const KernelSpec &, const Target &) const {
    return "";
  }
  // Whether it makes kernels with joined rows.
  virtual bool joins(const Target &) const { return false; }
  bool makes(const KernelSpec &spec, const Target &target) const;
  virtual PanelWidths panels(const Target &target) const = 0;
  // Whether its attention wants RoPE done before.
  virtual bool turnsFirst(const Target &) const { return false; }

  // Raises the numbers for the host to what its kernels need: row unit, few
  // rows, key unit, scratch.
  virtual void describe(const KernelSpec &spec, KernelInfo &info) const = 0;
  // Whether few rows get a separate kernel.
  virtual bool hasClasses(const KernelSpec &spec,
                          const Target &target) const = 0;

  // The possible tiles of a kernel in words: the best by its cost model first,
  // then those that are nearly as good. Empty if there is no choice.
  virtual std::vector<std::string> tiles(const KernelSpec &spec,
                                         const Target &target) const = 0;
  // A sentence for each tile of the kernel, with the reason for it.
  virtual std::vector<std::string> explainTiles(const KernelSpec &spec,
                                                const Target &target) const = 0;

  // What a user should know before it makes kernels on this machine, or empty.
  virtual std::string warning() const { return ""; }

  // Makes the object's bytes, or reports a problem. Several threads may call it
  // at once.
  virtual bool generate(const KernelRequest &request, std::string &object,
                        KernelReport &report) const = 0;
};

// The symbol of a variant: <name>_<target>_<few|many|join>_argv, with '_' for
// '-' in the target. If both row classes share a kernel they have the same
// symbol, so generate and link each symbol once. Empty: there is no join.
std::string kernelSymbol(const KernelInfo &info, const Target &target,
                         RowClass rows);

// The list of generators. The first one that makes a kernel for a target is
// used.
class Generators {
public:
  explicit Generators(std::vector<const Generator *> all)
      : all(std::move(all)) {}

  // Describes a kernel op on memrefs. The name is empty after an error at the
  // op.
  KernelInfo describe(mlir::Operation *kernelOp) const;
  // Like Generator's. If no generator makes it, an error at the op and an empty
  // result. Where a target has several generators, explainTiles begins with who
  // makes the kernel and why the earlier ones do not.
  std::vector<std::string> tiles(mlir::Operation *kernelOp,
                                 const Target &target) const;
  std::vector<std::string> explainTiles(mlir::Operation *kernelOp,
                                        const Target &target) const;
  Status generate(mlir::Operation *kernelOp, const Target &target,
                  RowClass rows, bool useCache, std::string &object,
                  unsigned rank = 0) const;
  // The panels that kernels of all these targets read.
  PanelWidths panels(llvm::ArrayRef<Target> targets) const;
  // What to know before kernels are made for these targets.
  std::vector<std::string> warnings(llvm::ArrayRef<Target> targets) const;
  bool turnFirst(llvm::ArrayRef<Target> targets) const;
  // Whether every target has a generator of kernels with joined rows, and
  // whether one makes this kernel, with its joined rows, for each.
  bool join(llvm::ArrayRef<Target> targets) const;
  bool joins(mlir::Operation *kernelOp, llvm::ArrayRef<Target> targets) const;
  // How many generators serve a target, and the one that makes a kernel where
  // there are several; else empty.
  unsigned serving(const Target &target) const;
  std::string maker(mlir::Operation *kernelOp, const Target &target) const;
  // Null if no generator makes it.
  const Generator *makerOf(const KernelSpec &spec, const Target &target) const;

private:
  KernelInfo describe(const KernelSpec &spec) const;
  std::string declines(const KernelSpec &spec, const Target &target) const;
  std::string explainMaker(const KernelSpec &spec, const Target &target) const;
  Status refuse(mlir::Operation *op, const KernelSpec &spec,
                const Target &target) const;

  const std::vector<const Generator *> all;
};

} // namespace mille
