// The `transformer` dialect in C++: ops, attributes, and the types of parameter
// values. Must not know passes, files or targets.
#pragma once
#include "dialects/transformer/Shape.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/bit.h"

#include <mutex>
#include <set>

#include "dialects/transformer/TransformerDialect.h.inc"
#include "dialects/transformer/TransformerEnums.h.inc"

namespace mille::transformer {

// A double as a part of an attribute. Two are equal if their bits are.
struct F64 {
  double value = 0;
  F64() = default;
  F64(double value) : value(value) {}
  operator double() const { return value; }
  bool operator==(const F64 &other) const {
    return llvm::bit_cast<uint64_t>(value) ==
           llvm::bit_cast<uint64_t>(other.value);
  }
};
inline llvm::hash_code hash_value(const F64 &number) {
  return llvm::hash_value(llvm::bit_cast<uint64_t>(number.value));
}

// Prints the fewest digits that read back as the same bits: 3.5565588200778455.
std::string formatDouble(double value);
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &out, F64 number) {
  return out << formatDouble(number);
}

// The interface's verifier: C1 to C3 of `layers`.
mlir::LogicalResult verifyLayerStack(mlir::Operation *stack);

} // namespace mille::transformer

namespace mlir {

// F64 in the text of an attribute.
template <> struct FieldParser<mille::transformer::F64> {
  static FailureOr<mille::transformer::F64> parse(AsmParser &parser);
};

} // namespace mlir

#include "dialects/transformer/LayerStack.h.inc"
#include "dialects/transformer/ParameterValue.h.inc"

namespace mille {

// A list of doubles in an op's text, each with the digits that read back
// (MLIR's own printer of dense arrays stops at seven).
mlir::ParseResult parseNumbers(mlir::OpAsmParser &parser,
                               mlir::DenseF64ArrayAttr &numbers);
void printNumbers(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::DenseF64ArrayAttr numbers);

} // namespace mille

#define GET_ATTRDEF_CLASSES
#include "dialects/transformer/TransformerAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/transformer/TransformerOps.h.inc"

namespace mille::transformer {

// Resolves a symbol inside a parameter's value: to another value (an expression
// attribute or an f64), to a TypeAttr if only its type is needed, or to null if
// the name is unknown.
using ResolveSymbol =
    llvm::function_ref<mlir::Attribute(mlir::FlatSymbolRefAttr)>;

// The f32 tensor type of a value expression (stored tensors count as f32). On
// failure `why` is a sentence without a subject.
mlir::FailureOr<mlir::RankedTensorType>
valueType(mlir::Attribute value, ResolveSymbol resolve, std::string &why);

// Every symbol in `value`, in order of appearance, with repetitions.
void forEachSymbol(mlir::Attribute value,
                   llvm::function_ref<void(mlir::FlatSymbolRefAttr)> visit);

// `value` with each symbol replaced by the result of `replace`.
mlir::Attribute replaceSymbols(
    mlir::Attribute value,
    llvm::function_ref<mlir::Attribute(mlir::FlatSymbolRefAttr)> replace);

} // namespace mille::transformer
