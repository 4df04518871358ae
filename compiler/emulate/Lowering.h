// What the files of Lower share: building calls, and the table of places.
#pragma once
#include "compiler/emulate/Lower.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mille::emulate {

// An error at the op; false.
bool refuse(mlir::Operation *op, const llvm::Twine &what);

class Lowering {
public:
  explicit Lowering(Lowered &into)
      : into(into), builder(into.module->getContext()) {}

  // Rewrites one op of a kernel. Failure: an error at the op.
  mlir::LogicalResult rewrite(mlir::Operation *op);

  Lowered &into;
  mlir::OpBuilder builder;

  // The address of shared memory, in place of the op.
  mlir::Value sharedAddress(mlir::Operation *op, int64_t offset);

private:
  using Values = llvm::SmallVector<mlir::Value>;

  // The call of mille_emulate_NAME with the op's place before `arguments`;
  // pointers become generic ones.
  mlir::Value call(mlir::Operation *op, llvm::StringRef name, Values arguments,
                   mlir::Type result = {}, Guard guard = Guard::none);
  mlir::Value plainCall(mlir::Location loc, llvm::StringRef name,
                        Values arguments, mlir::Type result = {});
  void replace(mlir::Operation *op, mlir::Value with);
  mlir::Value constant(mlir::Location loc, int64_t value);
  mlir::Value as(mlir::Location loc, mlir::Value pointer, mlir::Type type);
  // Memory of the thread's own, until the next call of it.
  mlir::Value scratch(mlir::Location loc);
  mlir::Value element(mlir::Location loc, mlir::Value pointer, int64_t words);
  int placeOf(mlir::Operation *op, Guard guard);
  mlir::Type i32() { return builder.getI32Type(); }

  // Null where the op is of another file; false: refused.
  std::optional<bool> rewriteRegister(mlir::Operation *op);
  std::optional<bool> rewriteBarrier(mlir::Operation *op);
  std::optional<bool> rewriteCopy(mlir::Operation *op);
  std::optional<bool> rewriteProduct(mlir::Operation *op);
  std::optional<bool> rewriteWarp(mlir::Operation *op);
  std::optional<bool> rewriteMemory(mlir::Operation *op);
  std::optional<bool> rewriteNumber(mlir::Operation *op);
  bool rewriteAsm(mlir::LLVM::InlineAsmOp op);
  void rewritePin(mlir::LLVM::InlineAsmOp op);
  bool rewriteAsmProduct(mlir::LLVM::InlineAsmOp op);

  unsigned guards[5] = {};
};

} // namespace mille::emulate
