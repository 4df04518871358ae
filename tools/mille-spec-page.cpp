// mille-spec-page [--schema]: prints docs/spec.md, or docs/spec.schema.json. For
// those who change the vocabulary of native specs; not installed.
#include "compiler/import/SpecPage.h"

int main(int argc, char **argv) {
  if (argc == 1)
    mille::import::writeSpecPage(llvm::outs());
  else if (argc == 2 && llvm::StringRef(argv[1]) == "--schema")
    mille::import::writeSpecSchema(llvm::outs());
  else
    return llvm::errs() << "usage: mille-spec-page [--schema]\n", 2;
  return 0;
}
