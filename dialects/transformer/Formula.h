// Depth formulas of scales: "(2*layers)^(1/4)" with numbers for its names.
// Knows nothing of models; a name's number is the caller's business.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mille::transformer {

// What a name in a formula stands for, or nothing where it stands for nothing.
using FormulaName = llvm::function_ref<std::optional<double>(llvm::StringRef)>;

// The value of `text`: numbers, names, + - * / ^ (to the right, before the
// sign), parentheses, sqrt(x), ln(x). Nothing with `why` set to a sentence
// without a subject where the text is no formula or names what has no number.
// The value may be infinite or not a number: dividing by zero is not refused
// here.
std::optional<double> evaluateFormula(llvm::StringRef text, FormulaName names,
                                      std::string &why);
std::optional<double> evaluateFormula(llvm::StringRef text,
                                      const llvm::StringMap<double> &names,
                                      std::string &why);

} // namespace mille::transformer
