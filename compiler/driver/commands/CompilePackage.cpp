// `mille compile`: a model becomes a package, or the IR of a stage.
// Must not know how.
#include "compiler/driver/Command.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Console.h"

using namespace mille;

Status mille::compileCommand(const CompileWords &options,
                             mlir::MLIRContext &context,
                             llvm::raw_ostream &out) {
  if (options.tune)
    return tuneCommand(options, context, out);
  return compileModel(requestOf(options), context, out);
}
