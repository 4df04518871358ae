// The `transformer` dialect in C++: ops, attributes, and what a value's type
// is. No passes, no files, no targets.
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

// A double as an attribute's part: equal when its bits are.
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

// The fewest digits that read back as the same bits: 3.5565588200778455.
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

// What a symbol inside a parameter's value stands for: another value (an
// expression attribute or an f64), the TypeAttr of one where only its type is
// asked for, or null where there is none of that name.
using ResolveSymbol =
    llvm::function_ref<mlir::Attribute(mlir::FlatSymbolRefAttr)>;

// The f32 tensor type of a value expression (stored tensors count as f32), or
// failure with `why` set to a sentence without a subject.
mlir::FailureOr<mlir::RankedTensorType>
valueType(mlir::Attribute value, ResolveSymbol resolve, std::string &why);

// Every symbol that `value` mentions, in order of appearance, with repeats.
void forEachSymbol(mlir::Attribute value,
                   llvm::function_ref<void(mlir::FlatSymbolRefAttr)> visit);

// `value` with each symbol replaced by what `replace` gives for it.
mlir::Attribute replaceSymbols(
    mlir::Attribute value,
    llvm::function_ref<mlir::Attribute(mlir::FlatSymbolRefAttr)> replace);

} // namespace mille::transformer
