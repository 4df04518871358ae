// Describes the files of a model as its Hugging Face family has them: the
// importer run backwards. Must not read a number of a weight.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace mille {

// One parameter of the family's model: what the importer makes of the files.
struct ExportedParameter {
  std::string name;      // of the model; empty: `fill` in all places
  double fill = 0;       // of what the model has not
  mlir::Operation *made; // the family's transformer.parameter
};

struct Exported {
  std::string family;
  std::string config; // the text of config.json
  // One transformer.model. The values of its parameters are expressions of the
  // tensors that the files hold.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<ExportedParameter> parameters;
};

// `path`: a native spec or a Hugging Face folder. It is an error if no family
// has the program of a native spec.
Status describeExport(llvm::StringRef path, mlir::MLIRContext &context,
                      Exported &exported);

} // namespace mille
