// Small steps of host code in the LLVM dialect: addresses, loads, calls, status
// checks, the run and the buffers of runtime/abi.h. Must not know programs.
#pragma once
#include "compiler/lower/AbiTypes.h"
#include "mlir/IR/Builders.h"

namespace mille::lower {

class HostCode {
public:
  // What describe() calls; once in a module.
  static void emitDescribe(mlir::ModuleOp module, const AbiTypes &types,
                           ConstantPool &constants);

  // Starts `int32_t name(mille_run *)`, private to the module.
  HostCode(mlir::ModuleOp module, const AbiTypes &types,
           ConstantPool &constants, llvm::StringRef name);

  mlir::Value number(mlir::Type type, int64_t value);
  mlir::Value real(double value);
  // A number that the optimizer cannot see, so that the code does not depend on
  // it.
  mlir::Value opaque(int64_t value);
  mlir::Value addressOf(llvm::StringRef symbol); // "": null
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value subtract(mlir::Value a, mlir::Value b);
  mlir::Value to32(mlir::Value value);

  // The address `base` + bytes, and a load from there.
  mlir::Value byteAddress(mlir::Value base, mlir::Value bytes);
  mlir::Value element(mlir::Type type, mlir::Value base,
                      llvm::ArrayRef<mlir::LLVM::GEPArg> at);
  mlir::Value load(mlir::Type type, mlir::Value base, int64_t index);
  void store(mlir::Value value, mlir::Value address);
  mlir::Value runField(abi::run::Field field);

  // A local array, made in the entry block when the function ends.
  mlir::Value local(mlir::Type element, int64_t count);

  // Fills `buffer` with its dimensions at `dimensions`: address, shape, rows.
  void describe(mlir::Value buffer, mlir::Value dimensions, mlir::Value host,
                llvm::StringRef shape, mlir::Value rows);

  // A function of the runtime. With a status: returns it unless it is 0.
  void call(llvm::StringRef name, llvm::ArrayRef<mlir::Value> arguments,
            bool status = false);

  mlir::Block *newBlock(llvm::ArrayRef<mlir::Type> arguments = {});
  void finish(); // returns 0

  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::LLVM::LLVMFuncOp function;
  mlir::Value run;

private:
  struct InModule {};
  HostCode(InModule, mlir::ModuleOp module, const AbiTypes &types,
           ConstantPool &constants);
  void emitDescribe();
  mlir::ModuleOp module;
  const AbiTypes &types;
  ConstantPool &constants;
  mlir::Block *exit;
};

} // namespace mille::lower
