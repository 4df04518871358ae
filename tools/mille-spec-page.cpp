// mille-spec-page [--schema | --schemes]: prints docs/spec.md,
// docs/spec.schema.json or docs/init.md. For those who change these
// vocabularies; not installed.
#include "compiler/import/pages/SpecPage.h"

int main(int argc, char **argv) {
  if (argc == 1)
    mille::import::writeSpecPage(llvm::outs());
  else if (argc == 2 && llvm::StringRef(argv[1]) == "--schema")
    mille::import::writeSpecSchema(llvm::outs());
  else if (argc == 2 && llvm::StringRef(argv[1]) == "--schemes")
    mille::import::writeSchemesPage(llvm::outs());
  else
    return llvm::errs() << "usage: mille-spec-page [--schema | --schemes]\n", 2;
  return 0;
}
