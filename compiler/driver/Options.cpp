// Parses the command line, and explains what is wrong with it.
// Must not do what the options ask for.
#include "compiler/driver/Options.h"

#include "compiler/driver/Console.h"
#include "compiler/driver/Help.h"
#include "compiler/driver/OptionWords.h"
#include "compiler/driver/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

using namespace mille;
using llvm::StringRef;

//===-- Mistakes ----------------------------------------------------------===//

// The option or command nearest to what was typed, or "".
static std::string nearest(const CLI::App *app, StringRef typed) {
  std::string best;
  unsigned least = 3;
  auto consider = [&](const std::string &name) {
    unsigned distance = typed.edit_distance(name, true, least);
    if (distance < least) {
      least = distance;
      best = name;
    }
  };
  for (const CLI::Option *option : app->get_options())
    for (const std::string &name : option->get_lnames())
      consider("--" + name);
  for (const CLI::App *command : app->get_subcommands(nullptr))
    consider(command->get_name());
  return best;
}

static std::string unknown(StringRef typed, const CLI::App *app) {
  typed = typed.split('=').first;
  std::string text = (typed.starts_with("-") ? "unknown option '"
                      : app->get_parent()    ? "unexpected argument '"
                                             : "unknown command '") +
                     typed.str() + "'";
  std::string guess = nearest(app, typed);
  return guess.empty() ? text : text + "\ndid you mean '" + guess + "'?";
}

// Rewords an error of CLI11; the second line is help.
static std::string explain(const CLI::ParseError &error, const CLI::App *app) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError))
    return unknown(app->remaining(true).front(), app);
  StringRef text = error.what();
  if (error.get_name() == "ValidationError") // "--threads: is 'x' but ..."
    return (text.split(": ").first + " " + text.split(": ").second).str();
  if (error.get_name() == "RequiredError" && !app->get_parent()) {
    std::vector<std::string> extras = app->remaining();
    if (extras.empty())
      return "no command is given";
    return unknown(extras.front(), app);
  }
  return text.str();
}

static const CLI::App *chosenCommand(const CLI::App &root) {
  for (const CLI::App *command : root.get_subcommands(nullptr))
    if (command->parsed())
      return command;
  return &root;
}

static bool refuse(const llvm::Twine &text, const llvm::Twine &help = "") {
  sayError(text);
  if (!help.isTriviallyEmpty())
    sayHelp(help);
  return false;
}

// Checks options against each other.
static bool checkCompile(CompileOptions &o, bool tune, StringRef stage) {
  if (!stage.empty()) {
    o.stopAfter = stageNamed(stage);
    if (!o.stopAfter || !rungOf(*o.stopAfter).prints)
      return refuse("--stop-after is '" + stage + "' but must be one of " +
                    stagesThatPrint());
  }
  if (tune && o.stopAfter)
    return refuse("--tune measures a package but --stop-after makes none",
                  "mille compile MODEL -o DIR --tune");
  if (o.folder.empty() && !o.stopAfter)
    return refuse("-o is required: the folder for the package",
                  "mille compile MODEL -o DIR");
  if (!o.name.empty() && !isModelName(o.name))
    return refuse("--name is '" + o.name +
                  "' but must be a C identifier of at most 63 characters");
  return true;
}

static bool checkTrain(const TrainOptions &o) {
  if (o.every && o.save.empty())
    return refuse("--every is given but --save is not: there is no file to "
                  "save to");
  if (o.evalEvery && o.eval.empty())
    return refuse("--eval-every is given but --eval is not: there is no data "
                  "to evaluate on");
  if (o.mask.replaced + o.mask.random > 1)
    return refuse(
        "--mask-replace is " + llvm::formatv("{0:f2}", o.mask.replaced).str() +
        " and --mask-random " + llvm::formatv("{0:f2}", o.mask.random).str() +
        " but they must be at most 1 together");
  return true;
}

CLI::App *mille::addCommand(CLI::App &root, const std::string &name,
                            const std::string &text) {
  return root.add_subcommand(name, text);
}

std::optional<Options>
mille::parseCommandLine(int argc, const char *const *argv, int &status) {
  Options options;
  for (int i = 0; i < argc; ++i)
    options.line += (i ? " " : "") + std::string(argv[i]);

  CLI::App root("Mille compiles Transformer models ahead of time: to an object "
                "that needs no framework, with weights packed and kernels made "
                "for its CPUs.",
                "mille");
  root.formatter(std::make_shared<Help>());
  root.set_help_flag("-h,--help", "this text; mille COMMAND --help says more");
  root.set_version_flag("--version", versionText(),
                        "version, and the package versions it reads");
  root.require_subcommand(1);
  root.footer("Examples:\n"
              "  mille compile minilm/ -o out      a Hugging Face folder\n"
              "  mille verify out                  compiled against reference\n"
              "  mille bench out --tokens=128      how fast it runs\n\n"
              "Exit status: 0 done, 1 your input, 2 your command line, 3 your "
              "machine, 4 our bug.");
  std::string stage;
  addCommands(root, options, stage);
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success &success) { // help and version
    status = root.exit(success) == 0 ? 0 : 2;
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    const CLI::App *app = chosenCommand(root);
    std::string explained = explain(error, app);
    auto [text, help] = StringRef(explained).split('\n');
    std::string usual =
        "mille " + (app == &root ? "" : app->get_name() + " ") + "--help";
    refuse(text, help.empty() ? usual : help.str());
    status = 2;
    return std::nullopt;
  }
  StringRef name = chosenCommand(root)->get_name();
  options.command = llvm::StringSwitch<Command>(name)
                        .Case("compile", Command::compile)
                        .Case("init", Command::init)
                        .Case("run", Command::run)
                        .Case("verify", Command::verify)
                        .Case("inspect", Command::inspect)
                        .Case("analyze", Command::analyze)
                        .Case("bench", Command::bench)
                        .Case("report", Command::report)
                        .Case("tokens", Command::tokens)
                        .Case("generate", Command::generate)
                        .Case("train", Command::train)
                        .Case("export", Command::exportModel)
                        .Default(Command::devices);
  if (options.command == Command::compile &&
      !checkCompile(options.compile, options.tune, stage)) {
    status = 2;
    return std::nullopt;
  }
  if (options.command == Command::train && !checkTrain(options.train)) {
    status = 2;
    return std::nullopt;
  }
  return options;
}
