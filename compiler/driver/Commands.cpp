// All commands: the table of the program that compiles.
// Must not do their work.
#include "compiler/driver/Commands.h"

#include "compiler/driver/Command.h"
#include "compiler/driver/CompileWords.h"
#include "compiler/driver/OptionWords.h"
#include "compiler/driver/PackageWords.h"
#include "compiler/driver/train/TrainWords.h"

using namespace mille;

#define MILLE_COMMAND(word, place, member, words, work)                        \
  MILLE_COMMAND_ROW(word, member, words, work)

static const CommandRow rows[] = {
#include "compiler/driver/Commands.def"
};

llvm::ArrayRef<CommandRow> mille::commands() { return rows; }
