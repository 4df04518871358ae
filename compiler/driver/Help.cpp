// How `mille --help` looks. Must not know any option.
#include "compiler/driver/Help.h"

#include <sstream>

using namespace mille;

// Wraps `text` at 80 columns and indents every line after the first.
static std::string fill(const std::string &text, size_t indent) {
  std::istringstream words(text);
  std::string word, filled;
  size_t column = indent;
  while (words >> word) {
    if (column + word.size() > 79 && column > indent) {
      filled += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      filled += ' ';
      ++column;
    }
    filled += word;
    column += word.size();
  }
  return filled;
}

static std::string entry(const std::string &name, const std::string &text) {
  constexpr size_t column = 24;
  std::string line = "  " + name;
  if (line.size() + 2 > column)
    line += "\n" + std::string(column, ' ');
  else
    line.resize(column, ' ');
  return line + fill(text, column) + "\n";
}

// "-o, --output=DIR"; "--option[=N]", whose value may be left out.
static std::string spelling(const CLI::Option *option) {
  std::string text;
  for (const std::string &name : option->get_snames())
    text += (text.empty() ? "-" : ", -") + name;
  for (const std::string &name : option->get_lnames())
    text += (text.empty() ? "--" : ", --") + name;
  if (option->get_type_name().empty())
    return text;
  const std::string value = "=" + option->get_type_name();
  if (option->get_items_expected_min() > 0)
    text += value;
  else if (option->get_items_expected_max() > 0)
    text += "[" + value + "]";
  return text;
}

std::string Help::make_help(const CLI::App *app, std::string name,
                            CLI::AppFormatMode) const {
  std::string text = fill(app->get_description(), 0) + "\n\nUsage: ";
  const CLI::App *parent = app->get_parent();
  text += parent ? parent->get_name() + " " + app->get_name() : app->get_name();
  std::string positionals, options, commands;
  for (const CLI::Option *option : app->get_options()) {
    if (option->get_positional()) {
      text += " " + option->get_name(true);
      positionals += entry(option->get_name(true), option->get_description());
    } else {
      options += entry(spelling(option), option->get_description());
    }
  }
  for (const CLI::App *command : app->get_subcommands(nullptr))
    commands += entry(command->get_name(), command->get_description());
  text += commands.empty() ? " [OPTIONS]\n" : " COMMAND [OPTIONS]\n";
  if (!positionals.empty())
    text += "\n" + positionals;
  if (!commands.empty())
    text += "\nCommands:\n" + commands;
  if (!options.empty())
    text += "\nOptions:\n" + options;
  if (!app->get_footer().empty())
    text += "\n" + app->get_footer() + "\n";
  return text;
}
