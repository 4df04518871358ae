// Must not read a model.
#include "compiler/driver/RequestChecks.h"

#include "compiler/driver/Failures.h"
#include "compiler/driver/program/Targets.h"
#include "mlir/IR/Diagnostics.h"

using namespace mille;

// What a package that trains cannot be besides.
static bool checkTraining(const CompileRequest &request,
                          const DtypeChoice &dtype,
                          mlir::MLIRContext &context) {
  const bool trains =
      dtype.usual.kind == Dtype::f32 || dtype.usual.kind == Dtype::bf16;
  if (!trains || !dtype.weights.empty()) {
    emitError(context) << "--train is given but dtype is '" << request.dtype
                       << "': a package trains in f32 or in bf16";
    return false;
  }
  if (!request.entries.empty()) {
    emitError(context) << "--train is given but so is --entries: a package "
                          "that trains has the entries train_step and eval";
    return false;
  }
  for (const Target &target : targetsMeant(request.targets))
    if (target.isDevice()) {
      emitError(context) << "--train is given but a target is " << target.name
                         << ": training runs on CPUs";
      return false;
    }
  return true;
}

bool mille::checkRequest(const CompileRequest &request,
                         const DtypeChoice &dtype, mlir::MLIRContext &context) {
  for (const Target &target : knownTargets())
    if (dtype.isOfBlocks() && target.isDevice() &&
        llvm::is_contained(request.targets, target.name)) {
      emitError(context) << "dtype is '" << request.dtype
                         << "' but there are no kernels of " << target.name
                         << " that read blocks";
      return false;
    }
  if (!request.calibrate.empty() && !dtype.isOfBlocks()) {
    emitError(context) << "--calibrate is given but dtype is '" << request.dtype
                       << "': weights in blocks alone are rounded by it";
    return false;
  }
  if (request.keyCache == "bf16") { // cacheBeside leaves it of f32 alone
    emitError(context) << "cache is 'bf16' but dtype is 'f32', whose keys and "
                          "values are f32 or f16 or int8";
    return false;
  }
  for (const Target &target : targetsMeant(request.targets))
    if (!request.keyCache.empty() && target.isDevice()) {
      emitError(context) << "cache is '" << request.keyCache
                         << "' but a target is " << target.name
                         << ": such states are the CPU's";
      return false;
    }
  return !request.train || checkTraining(request, dtype, context);
}
