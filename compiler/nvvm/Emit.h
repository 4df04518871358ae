// From a kernel in MLIR to an object for the host: PTX by LLVM, a cubin by
// ptxas where there is one, and a function that hands both to the runtime.
// Must not know what a kernel computes.
#pragma once
#include "compiler/nvvm/Launch.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace mille::nvvm {

struct DeviceCode {
  std::string ptx;
  std::string cubin; // empty: the driver compiles the PTX
};

// The PTX of a module with one gpu.module. Changes the module. False, with a
// sentence in `problem`, where LLVM refuses it.
bool makePtx(mlir::ModuleOp module, std::string &ptx, std::string &problem);

// A kernel of Kernel.h as code.
struct LaunchedCode {
  Launch launch;
  DeviceCode code;
  std::unique_ptr<LaunchedCode> ofLong;
  uint32_t mostQueries = 0;
  std::unique_ptr<LaunchedCode> then;
};

// An object with the mille_kernel_function `symbol`, which launches the code.
bool makeObject(const std::string &symbol, const LaunchedCode &code,
                std::string &object, std::string &problem);

} // namespace mille::nvvm
