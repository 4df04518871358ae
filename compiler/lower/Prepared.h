// Ops that the runtime computes itself: each becomes a call of runtime/abi.h.
// Must not launch kernels.
#pragma once
#include "compiler/lower/HostCode.h"
#include "dialects/kernel/Signature.h"

namespace mille::lower {

// The tables of an entry that the session resizes to an image's grid: each has
// a number and columns of its own, and all have as many rows.
struct ResizedTables {
  int64_t count = 0, columns = 0;
  ShapeExtent rows = 0; // per sequence
};

// The lowered values of a program.
struct Bindings {
  using Map = llvm::DenseMap<mlir::Value, mlir::Value>;
  HostCode &code;
  const AbiTypes &types;
  ConstantPool &constants;
  const kernel::Signature &signature; // the entry's
  const kernel::SharedSignature &shared;
  mlir::Value layer = {};    // in the layer loop
  mlir::Value tokens = {};   // the argument of the entry
  mlir::Value states = {};   // of the run: addresses of entries
  ResizedTables tables = {}; // those lowered so far
  // The address and the dynamic extent of each memref; each index as a number.
  Map address = Map(), extent = Map(), index = Map();
};

mlir::LogicalResult lowerPrepared(mlir::Operation *op, Bindings &bindings);

} // namespace mille::lower
