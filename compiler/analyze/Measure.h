// Measures the numbers of parameters: by formula if they are drawn, else by
// reading files. Computes operator norms by power iteration.
#pragma once
#include "compiler/analyze/Stack.h"
#include "compiler/weights/ParameterValues.h"
#include "llvm/ADT/StringMap.h"

namespace mille::analyze {

class Parameters {
public:
  // `operatorNorms`: also computes that of every matrix, reading it about 40
  // times.
  Parameters(mlir::Operation *model, std::string folder, bool operatorNorms);
  Numbers of(llvm::StringRef name);
  // Whether an error was reported: a file that cannot be read.
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

// The largest singular value of a matrix [rows, columns], approached from
// below.
double operatorNorm(llvm::ArrayRef<float> matrix, int64_t rows,
                    int64_t columns);

// The lambda for which W W^T / lambda^2 is nearest to the identity, if W is
// lambda times an orthogonal matrix: lambda^2 = |W W^T|^2 / tr(W W^T).
double magnitude(llvm::ArrayRef<float> matrix, int64_t rows, int64_t columns);

} // namespace mille::analyze
