// The structs of runtime/abi.h as LLVM types, and constants of them.
// Knows nothing of programs. A test compares the layouts with the header's.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mille::lower {

struct AbiTypes {
  explicit AbiTypes(mlir::MLIRContext *context);

  mlir::Type i1, i8, i16, i32, i64, f64, ptr, none;
  mlir::Type dimension, buffer, stage, kernel, run, tensorInfo, isa, schedule,
      stack, model;
  mlir::Type shape; // ours: what a buffer looks like, but for address and rows

  static constexpr int maxDimensions = 4, maxBuffers = 16;
};

// A constant: a number (of f64 its bits), the address of a symbol (or null), or
// parts.
struct Constant {
  mlir::Type type;
  int64_t number = 0;
  std::string symbol;
  std::vector<Constant> parts;

  static Constant of(mlir::Type type, int64_t number) {
    return {type, number, "", {}};
  }
  static Constant real(const AbiTypes &types, double number) {
    return {types.f64, llvm::bit_cast<int64_t>(number), "", {}};
  }
  static Constant address(const AbiTypes &types, llvm::StringRef symbol) {
    return {types.ptr, 0, symbol.str(), {}};
  }
  static Constant aggregate(mlir::Type type, std::vector<Constant> parts) {
    return {type, 0, "", std::move(parts)};
  }
};

// Adds constants to a module; equal ones are one, and all are private.
class ConstantPool {
public:
  ConstantPool(mlir::ModuleOp module, const AbiTypes &types)
      : module(module), types(types) {}

  // Each gives the symbol.
  std::string add(llvm::StringRef stem, const Constant &value);
  std::string addString(llvm::StringRef text);
  std::string addArray(llvm::StringRef stem, mlir::Type element,
                       std::vector<Constant> parts);
  std::string addDoubles(llvm::ArrayRef<double> numbers);
  std::string addIntegers(llvm::ArrayRef<int32_t> numbers);
  void declare(llvm::StringRef symbol, mlir::Type type);

private:
  std::string fresh(llvm::StringRef stem);
  std::string addDense(mlir::Type element, mlir::DenseElementsAttr numbers);
  mlir::ModuleOp module;
  const AbiTypes &types;
  llvm::DenseMap<mlir::Attribute, std::string> byKey;
  llvm::StringMap<int> count;
};

} // namespace mille::lower
