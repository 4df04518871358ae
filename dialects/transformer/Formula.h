// Evaluates depth formulas of scales, such as "(2*layers)^(1/4)". Must not know
// models: the caller gives the number of each name.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mille::transformer {

// The number of a name in a formula, or nothing if the name is unknown.
using FormulaName = llvm::function_ref<std::optional<double>(llvm::StringRef)>;

// The value of `text`: numbers, names, + - * / ^ (right-associative, binds
// tighter than the sign), parentheses, sqrt(x), ln(x). If the text is not a
// formula or has an unknown name, the result is empty and `why` is a sentence
// without a subject. The value may be infinite or NaN, since division by zero
// is allowed here.
std::optional<double> evaluateFormula(llvm::StringRef text, FormulaName names,
                                      std::string &why);
std::optional<double> evaluateFormula(llvm::StringRef text,
                                      const llvm::StringMap<double> &names,
                                      std::string &why);

} // namespace mille::transformer
