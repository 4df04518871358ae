// Parses the command line, and explains what is wrong with it.
// Must not do what the options ask for.
#include "compiler/driver/Options.h"

#include "compiler/driver/Commands.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/Help.h"
#include "compiler/driver/SharedWords.h"
#include "compiler/driver/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
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
  if (typed == "serve" && !app->get_parent())
    return text + "\nit comes with the Python package: python -m mille serve";
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

// The first list with an empty word among the words of a command line that
// `command` parsed, as what is wrong with it; "": none has. CLI11 drops such
// words in silence.
static std::string emptyWordIn(llvm::ArrayRef<const char *> words,
                               const CLI::App &command) {
  for (size_t i = 0; i < words.size(); ++i) {
    auto [name, list] = StringRef(words[i]).split('=');
    const CLI::Option *option = name.starts_with("--")
                                    ? command.get_option_no_throw(name.str())
                                    : nullptr;
    if (!option || option->get_delimiter() != ',')
      continue;
    if (name.size() == StringRef(words[i]).size() && i + 1 < words.size())
      list = words[++i];
    llvm::SmallVector<StringRef> parts;
    list.split(parts, ',');
    if (llvm::is_contained(parts, ""))
      return (name + " is '" + list + "' but has an empty word").str();
  }
  return "";
}

static const CLI::App *chosenCommand(const CLI::App &root) {
  for (const CLI::App *command : root.get_subcommands(nullptr))
    if (command->parsed())
      return command;
  return &root;
}

std::optional<Options>
mille::parseCommandLine(int argc, const char *const *argv,
                        llvm::ArrayRef<CommandRow> commands, int &status) {
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
  for (const CommandRow &row : commands)
    row.addWords(root, options);
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
    refuseOptions(text, help.empty() ? usual : help.str());
    status = 2;
    return std::nullopt;
  }
  std::string empty = emptyWordIn(
      llvm::ArrayRef(argv, argc).drop_front(argc > 0), *chosenCommand(root));
  if (!empty.empty()) {
    refuseOptions(empty,
                  "mille " + chosenCommand(root)->get_name() + " --help");
    status = 2;
    return std::nullopt;
  }
  options.command = llvm::find_if(commands, [&](const CommandRow &row) {
    return row.word == chosenCommand(root)->get_name();
  });
  status = static_cast<int>(options.command->check(options));
  return status ? std::nullopt : std::optional(std::move(options));
}
