// What is known of parameters' numbers: of recipes by their formula, of files
// by reading them; operator norms by power iteration.
#pragma once
#include "compiler/analyze/Stack.h"
#include "compiler/weights/ParameterValues.h"
#include "llvm/ADT/StringMap.h"

namespace mille::analyze {

class Parameters {
public:
  // `operatorNorms`: also of every matrix, which reads it some 40 times.
  Parameters(mlir::Operation *model, std::string folder, bool operatorNorms);
  Numbers of(llvm::StringRef name);
  // Whether an error was told: a file that cannot be read.
  bool failed() const { return anyFailed; }
  // Whether some parameter is read from a file.
  bool anyStored() const { return stored; }

private:
  Numbers measure(transformer::ParameterOp parameter);
  ParameterValues values;
  bool operatorNorms, anyFailed = false, stored = false;
  llvm::StringMap<mlir::Operation *> byName;
  llvm::StringMap<Numbers> known;
};

// Of [rows, columns]: the largest singular value, from below.
double operatorNorm(llvm::ArrayRef<float> matrix, int64_t rows,
                    int64_t columns);

// lambda of W = lambda U that makes W W^T / lambda^2 nearest to the identity:
// lambda^2 = |W W^T|^2 / tr(W W^T).
double magnitude(llvm::ArrayRef<float> matrix, int64_t rows, int64_t columns);

} // namespace mille::analyze
