// A command of `mille` as a row of a table. Commands.def is the table; each of
// the two programs (Compiler.h) has those rows whose work it does.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace CLI {
class App;
}

namespace mille {

struct Options;

struct CommandRow {
  llvm::StringLiteral word;
  // Adds the command's options, whose values parsing then writes.
  void (*addWords)(CLI::App &root, Options &options);
  // Checks options against each other, and says what is wrong.
  Status (*check)(Options &options);
  Status (*perform)(const Options &options, mlir::MLIRContext &context,
                    llvm::raw_ostream &out);
};

// The commands of this program, in the order of Commands.def.
llvm::ArrayRef<CommandRow> commands();

} // namespace mille

// A row of Commands.def as a CommandRow.
#define MILLE_COMMAND_ROW(word, member, words, work)                           \
  {word,                                                                       \
   [](CLI::App &root, Options &options) { words(root, options.member); },      \
   [](Options &options) { return checkOptions(options.member); },              \
   [](const Options &options, mlir::MLIRContext &context,                      \
      llvm::raw_ostream &out) { return work(options.member, context, out); }},
