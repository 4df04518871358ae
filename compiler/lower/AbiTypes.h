// The structs of runtime/abi.def: LLVM types, numbers of fields, constants.
// Must not know programs.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/abi.h"

#include <string>
#include <vector>

namespace mille::lower {

// abi::run::tokens is the number of the field `tokens` in mille_run.
namespace abi {
// clang-format off
#define MILLE_STRUCT(NAME) namespace NAME { enum Field : unsigned {
#define MILLE_FIELD(TYPE, NAME) NAME,
#define MILLE_ARRAY(TYPE, NAME, COUNT) NAME,
#define MILLE_END(NAME) }; }
#include "runtime/abi.def"
#define MILLE_STRUCT(NAME) \
  inline llvm::ArrayRef<const char *> namesOf(NAME::Field) { \
    static constexpr const char *names[] = {
#define MILLE_FIELD(TYPE, NAME) #NAME,
#define MILLE_ARRAY(TYPE, NAME, COUNT) #NAME,
#define MILLE_END(NAME) }; return names; }
#include "runtime/abi.def"
// clang-format on
} // namespace abi

// Ends the process: a field has no value, or two, which is our bug.
[[noreturn]] void refuseField(const char *name, size_t values);

// The values of a struct's fields, given by name, in the order of the struct.
template <typename Field, typename T>
std::vector<T> inOrder(llvm::ArrayRef<std::pair<Field, T>> values) {
  llvm::ArrayRef<const char *> names = abi::namesOf(Field());
  std::vector<T> ordered;
  for (size_t field = 0; field < names.size(); ++field) {
    size_t found = 0;
    for (const auto &[which, value] : values)
      if (which == field && ++found == 1)
        ordered.push_back(value);
    if (found != 1)
      refuseField(names[field], found);
  }
  return ordered;
}

struct AbiTypes {
  explicit AbiTypes(mlir::MLIRContext *context);

  mlir::Type i1, i8, i16, i32, i64, f64, ptr, none;
  // A struct of abi.def has its name there.
#define MILLE_STRUCT(NAME) mlir::Type NAME;
#include "runtime/abi.def"
  mlir::Type shape; // not of the ABI: a buffer without address and rows
};

// A constant: a number (of f64 its bits), the address of a symbol (or null), or
// parts. A number without a type takes the type of its place in an aggregate.
struct Constant {
  mlir::Type type;
  int64_t number = 0;
  std::string symbol;
  std::vector<Constant> parts;

  Constant(int64_t number) : number(number) {}

  static Constant of(mlir::Type type, int64_t number) {
    Constant value(number);
    value.type = type;
    return value;
  }
  static Constant real(const AbiTypes &types, double number) {
    return of(types.f64, llvm::bit_cast<int64_t>(number));
  }
  static Constant address(const AbiTypes &types, llvm::StringRef symbol) {
    Constant value = of(types.ptr, 0);
    value.symbol = symbol.str();
    return value;
  }
  static Constant aggregate(mlir::Type type, std::vector<Constant> parts);
};

// Adds private constants to a module; equal constants share one global.
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
  std::string addWords(llvm::ArrayRef<int64_t> numbers);
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
