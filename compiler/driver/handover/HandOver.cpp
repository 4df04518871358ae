// Runs the commands of packages, and hands every other command line over to the
// program that compiles, by becoming it. Must not include a room that compiles.
#include "compiler/driver/handover/HandOver.h"

#include "compiler/driver/Command.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/PackageWords.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace mille;

#define MILLE_COMMAND(word, place, member, words, work)                        \
  MILLE_COMMAND_OF_##place(word, member, words, work)
#define MILLE_COMMAND_OF_package MILLE_COMMAND_ROW
#define MILLE_COMMAND_OF_compiler(...)

static const CommandRow rows[] = {
#include "compiler/driver/Commands.def"
};

llvm::ArrayRef<CommandRow> mille::commands() { return rows; }

// Nothing that this program reads is a program of MLIR.
void mille::registerDialects(mlir::DialectRegistry &) {}

// bin/mille, libexec/mille-compiler.
std::string mille::compilerProgram() {
  llvm::SmallString<256> path(
      llvm::sys::fs::getMainExecutable(nullptr, nullptr));
  for (int up = 0; up < 2; ++up)
    llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "libexec", "mille-compiler");
  return std::string(path);
}

static char **arguments; // of this process

// Returns only if it fails.
static Status handOver() {
  const std::string program = compilerProgram();
  execv(program.c_str(), arguments);
  sayError("cannot start " + program + ", which compiles: " + strerror(errno));
  sayHelp("install mille again");
  return Status::machine;
}

Status mille::compileModel(const CompileRequest &, mlir::MLIRContext &,
                           llvm::raw_ostream &) {
  return handOver();
}

int mille::runOrHandOver(int argc, char **argv) {
  arguments = argv;
  const bool isOurs =
      argc > 1 && llvm::any_of(rows, [&](const CommandRow &row) {
        return row.word == argv[1];
      });
  return isOurs ? runMille(argc, argv) : static_cast<int>(handOver());
}
