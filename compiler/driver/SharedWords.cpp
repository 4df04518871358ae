// Options that several commands have.
// Must not know the commands.
#include "compiler/driver/SharedWords.h"

#include "compiler/driver/OptionChecks.h"

using namespace mille;

CLI::App *mille::addCommand(CLI::App &root, const std::string &name,
                            const std::string &text) {
  return root.add_subcommand(name, text);
}

void mille::deviceOption(CLI::App *app, std::string &device) {
  app->add_option("--device", device,
                  "run on this device: its number in `mille devices`, or "
                  "part of its name (default: the first GPU, else the first)")
      ->type_name("DEVICE");
}

void mille::cacheOption(CLI::App *app, std::string &cache,
                        const std::string &of) {
  app->add_option("--cache", cache,
                  "what entries remember keys and values in" + of +
                      ": int8, bytes with a step for each token and head, or "
                      "f16, on CPUs; bf16, but in f32 packages (default: f32 "
                      "in f32 packages, bf16 in others)")
      ->type_name("TYPE")
      ->check(oneOf({"bf16", "f16", "int8"}));
}

void mille::calibrateOption(CLI::App *app, std::string &text,
                            const std::string &of) {
  app->add_option("--calibrate", text,
                  "a text: weights" + of +
                      " become blocks so that the columns that its tokens make "
                      "large lose least")
      ->type_name("FILE");
}
