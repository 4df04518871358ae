// Ops that the runtime does by itself: each becomes a call of runtime/abi.h.
// Must not launch kernels.
#pragma once
#include "compiler/lower/HostCode.h"
#include "dialects/kernel/Signature.h"

namespace mille::lower {

// Where the values of a program are while it is lowered.
struct Bindings {
  using Map = llvm::DenseMap<mlir::Value, mlir::Value>;
  HostCode &code;
  const AbiTypes &types;
  ConstantPool &constants;
  const kernel::Signature &signature;
  mlir::Value layer = {};  // in the layer loop
  mlir::Value tokens = {}; // the argument of `forward`
  // Of memrefs, of their dynamic dimension, and of index values.
  Map address = Map(), extent = Map(), index = Map();
};

mlir::LogicalResult lowerPrepared(mlir::Operation *op, Bindings &bindings);

} // namespace mille::lower
