// mille-lsp: MLIR's language server with Mille's dialects. No logic.
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/Dialects.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mille::insertDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
