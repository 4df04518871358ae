// The form of a dialect's table of discardable attributes: the places and
// values that each may have. Must be used by verifiers only.
#pragma once
#include "mlir/IR/Operation.h"

namespace mille {

// The place of a discardable attribute.
struct AttributeSite {
  enum Kind { function = 1, argument = 2, result = 4 };
  Kind kind;
  mlir::Operation *op;
  unsigned number = 0; // of the argument or result
  mlir::Type type;     // of the argument or result; null for a function
  // The other attributes at the same place.
  mlir::DictionaryAttr others;
};

struct DiscardableAttribute {
  llvm::StringLiteral name;
  unsigned kinds; // AttributeSite::Kind, or-ed
  bool (*takes)(mlir::Attribute value);
  llvm::StringLiteral values; // the values that `takes` accepts, in words
  // Further checks, which print their own error; may be null.
  mlir::LogicalResult (*verify)(const AttributeSite &, mlir::Attribute value);
};

using DiscardableTable = llvm::ArrayRef<DiscardableAttribute>;

mlir::LogicalResult verifyOnOperation(mlir::Operation *op,
                                      mlir::NamedAttribute given,
                                      DiscardableTable table);
mlir::LogicalResult verifyOnArgument(mlir::Operation *op, unsigned number,
                                     mlir::NamedAttribute given,
                                     DiscardableTable table);
mlir::LogicalResult verifyOnResult(mlir::Operation *op, unsigned number,
                                   mlir::NamedAttribute given,
                                   DiscardableTable table);

// Emits an error with the place as its subject: "argument 2".
mlir::InFlightDiagnostic errorAt(const AttributeSite &site);

// Checks of values that several rows use.
bool isUnit(mlir::Attribute value);
bool isName(mlir::Attribute value); // a string with at least one character
template <int64_t least> bool isInt64From(mlir::Attribute value) {
  auto number = llvm::dyn_cast<mlir::IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() >= least;
}
bool isListOfDictionaries(mlir::Attribute value);

// The keys of each dictionary of a list: all of them, and no other.
struct DictionaryKeys {
  llvm::ArrayRef<llvm::StringLiteral> texts;
  llvm::ArrayRef<llvm::StringLiteral> numbers; // i64, 0 or more
};
mlir::LogicalResult verifyDictionaries(const AttributeSite &site,
                                       llvm::StringRef name,
                                       mlir::Attribute value,
                                       DictionaryKeys keys);

} // namespace mille
