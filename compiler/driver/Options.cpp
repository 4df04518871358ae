// The command line: its words, what they take, and what is said when they are
// wrong. Must not do what the options ask for.
#include "compiler/driver/Options.h"

#include "compiler/driver/Console.h"
#include "compiler/driver/Help.h"
#include "compiler/driver/OptionChecks.h"
#include "compiler/driver/Version.h"
#include "compiler/fuse/Boundaries.h"
#include "compiler/import/schemes/Schemes.h"
#include "compiler/kernels/Targets.h"
#include "compiler/rewrite/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

using namespace mille;
using llvm::StringRef;

//===-- The commands ------------------------------------------------------===//

static void listOption(CLI::App *app, const std::string &name,
                       std::vector<std::string> &into, const std::string &text,
                       const CLI::Validator &each) {
  app->add_option(name, into, text)
      ->delimiter(',')
      ->type_name("LIST")
      ->expected(1)
      ->take_all()
      ->check(each);
}

static void deviceOption(CLI::App *app, std::string &device) {
  app->add_option("--device", device,
                  "run on this device: its number in `mille devices`, or "
                  "part of its name (default: the first GPU, else the first)")
      ->type_name("DEVICE");
}

// Absent: all where they save work. Names apply wherever the law allows.
static void rewriteOption(CLI::App *app,
                          std::optional<std::vector<std::string>> &into) {
  std::vector<std::string> words = {"all", "none"};
  for (const rewrite::Law &law : rewrite::laws())
    if (!law.byWord)
      words.push_back(law.name.str());
  auto take = [&into](const std::vector<std::string> &given) {
    into.emplace();
    for (const rewrite::Law &law : rewrite::laws())
      if (!law.byWord && (llvm::is_contained(given, law.name) ||
                          llvm::is_contained(given, "all")))
        into->push_back(law.name.str());
  };
  app->add_option_function<std::vector<std::string>>(
         "--rewrites", take,
         "these rewrites wherever their law allows, not only where they save "
         "work: " +
             llvm::join(words, ", "))
      ->delimiter(',')
      ->type_name("LIST")
      ->expected(1)
      ->take_all()
      ->check(oneOf(words));
}

static void addCompile(CLI::App &root, CompileOptions &o, bool &tune,
                       std::string &stage) {
  CLI::App *app = root.add_subcommand(
      "compile", "a model becomes a shared library, an object, a header and "
                 "packed weights");
  app->add_option("MODEL", o.model,
                  "a Hugging Face folder (config.json and *.safetensors), a "
                  "native spec (*.json) or .mlir")
      ->required();
  app->add_option("-o,--output", o.folder,
                  "folder for NAME.so .a .h .weights .json .mlir")
      ->type_name("DIR");
  listOption(app, "--target", o.targets,
             "instruction sets and devices, all in one artifact: host, " +
                 llvm::join(targetNames(), ", ") +
                 " (default: this machine's best, and " + leastTarget().name +
                 ")",
             target(/*forCompile=*/true));
  app->add_option(
         "--dtype", o.dtype,
         "what matmuls and attention read: f32, bf16, or int8 (weights and "
         "inputs of matmuls in bytes, the rest bf16)")
      ->type_name("TYPE")
      ->check(oneOf({"f32", "bf16", "int8"}));
  listOption(app, "--require-fused", o.requireFused,
             "fail where one of these boundaries is not fused: " +
                 llvm::join(llvm::ArrayRef(boundary::all), ", "),
             oneOf(wordsOf(boundary::all)));
  app->add_flag(
      "--bit-exact", o.bitExact,
      "only rewrites that change no bit of the result: norms moved, scales "
      "that are powers of two");
  rewriteOption(app, o.rewrites);
  app->add_flag(
      "--fold-schedules", o.foldSchedules,
      "scales that follow a schedule are the number at its end; the model "
      "takes no step");
  app->add_flag("--hidden-states", o.hiddenStates,
                "also give hidden_states.0 to hidden_states.L");
  app->add_flag("--embed-weights", o.embedWeights,
                "put the weights into the object");
  app->add_option("--weights", o.weights,
                  "a safetensors file, none, or random:SEED, instead of the "
                  "model's own")
      ->type_name("SOURCE")
      ->check(weightsSource());
  app->add_option_function<std::string>(
         "--image-size",
         [&o](const std::string &text) { o.imageSize = imageSizeIn(text); },
         "pixels of an image, 224, or height x width, 480x640, in place of the "
         "model's image_size")
      ->type_name("SIZE")
      ->check(imageSize());
  app->add_option("--name", o.name,
                  "NAME of the files and prefix of the C functions (default: "
                  "from the path)")
      ->type_name("NAME");
  app->add_option("--stop-after", stage,
                  "print the IR after a stage: " + stagesThatPrint())
      ->type_name("STAGE");
  listOption(app, "--remarks", o.remarks,
             "say what was done and what was not, and why: rewrite, fuse, plan",
             oneOf({"rewrite", "fuse", "plan"}));
  app->add_option("--jobs", o.jobs,
                  "kernels generated at once (default: one a core)")
      ->type_name("N")
      ->check(numberFrom(1, 1024));
  app->add_flag("!--no-cache", o.cache,
                "neither read nor write $XDG_CACHE_HOME/mille");
  app->add_flag(
      "--tune", tune,
      "measure on this machine the tiles that the model of a core finds "
      "nearly as good, and take the fastest of each kernel; NAME.json "
      "holds them");
  app->footer("Examples:\n"
              "  mille compile minilm/ -o out\n"
              "  mille compile spec.json -o out --target=host,x86-64-v3\n"
              "  mille compile spec.json --stop-after=fuse");
}

static void addInit(CLI::App &root, InitOptions &o) {
  CLI::App *app = root.add_subcommand(
      "init", "weights of a model by a scheme, as a safetensors file");
  app->add_option("MODEL", o.model,
                  "a native spec (*.json) or a Hugging Face folder")
      ->required();
  app->add_option("-o,--output", o.output,
                  "all f32, under the names of native specs")
      ->type_name("FILE")
      ->required();
  std::vector<std::string> names;
  for (const import::SchemeEntry &scheme : import::schemes())
    names.push_back(scheme.name.str());
  app->add_option("--scheme", o.scheme,
                  "how weights are drawn: " + llvm::join(names, ", ") +
                      " (default: the model's own)")
      ->type_name("NAME")
      ->check(oneOf(names));
  app->add_option("--seed", o.seed,
                  "same seed, same bits (default: the spec's, or 0)")
      ->type_name("N")
      ->check(numberFrom(0, INT64_MAX));
  app->add_option("--threads", o.threads, "default: 1; same bits for any")
      ->type_name("N")
      ->check(numberFrom(1, 64));
  app->footer(
      "Examples:\n"
      "  mille init spec.json -o model.safetensors --scheme=deepnorm --seed=1\n"
      "  mille compile spec.json --weights=model.safetensors -o out");
}

static void addRun(CLI::App &root, RunOptions &o) {
  CLI::App *app = root.add_subcommand(
      "run", "inputs from a safetensors file, outputs to another");
  app->add_option("DIR|MODEL", o.subject,
                  "a package; a model is compiled first, for this run only")
      ->required();
  app->add_option("--inputs", o.inputs, "named as the model names them")
      ->type_name("FILE")
      ->required();
  app->add_option("--outputs", o.outputs, "all f32")
      ->type_name("FILE")
      ->required();
  app->add_option("--threads", o.threads, "default: 1; same bits for any")
      ->type_name("N")
      ->check(numberFrom(1, 64));
  app->add_option("--only", o.only, "names of the outputs to write")
      ->delimiter(',')
      ->type_name("LIST")
      ->expected(1)
      ->take_all();
  app->add_flag("--hidden-states", o.hiddenStates,
                "also write hidden_states.0 to hidden_states.L");
  app->add_flag("--keep-padding", o.keepPadding,
                "compute what attention_mask hides at the ends of sequences; "
                "without: 0");
  app->add_flag("--check", o.check,
                "read all of the weights first and compare their hash with "
                "what was compiled");
  app->add_option("--target", o.target,
                  "an instruction set, " +
                      llvm::join(deviceTargetNames(), ", ") +
                      ", or reference: in double, without generated code")
      ->type_name("TARGET")
      ->check(target(/*forCompile=*/false));
  deviceOption(app, o.device);
  app->footer("Examples:\n"
              "  mille run out --inputs in.safetensors --outputs "
              "out.safetensors --threads=2\n"
              "  mille run minilm/ --target=reference --inputs in.safetensors "
              "--outputs ref.safetensors");
}

static void addVerify(CLI::App &root, VerifyOptions &o) {
  CLI::App *app = root.add_subcommand(
      "verify", "compiled against reference, tensor by tensor");
  app->add_option("DIR|MODEL", o.subject, "a package or a model")->required();
  app->add_option("--inputs", o.inputs, "default: random ones, of one seed")
      ->type_name("FILE");
  app->add_option("--expected", o.expected,
                  "answers to compare with, besides the reference's")
      ->type_name("FILE");
  app->add_option("--threads", o.threads, "default: 1")
      ->type_name("N")
      ->check(numberFrom(1, 64));
  app->add_flag(
      "--certificate", o.certificate,
      "measure again what each rewrite does to numbers, on random and "
      "hard inputs, in f64 and compiled");
  deviceOption(app, o.device);
  app->footer(
      "Status 1 where an expected answer differs, 4 where the reference "
      "does, or a rewrite moves more than its bound.");
}

static void addInspect(CLI::App &root, InspectOptions &o) {
  CLI::App *app = root.add_subcommand(
      "inspect", "what a model is: placement, scales, norms, heads, sizes");
  app->add_option("MODEL|DIR", o.subject, "a model or a package")->required();
  app->add_flag("--json", o.json, "the same for programs");
}

static void addAnalyze(CLI::App &root, AnalyzeOptions &o) {
  CLI::App *app = root.add_subcommand(
      "analyze",
      "what depth does to a model: moments, gradients, first updates, "
      "ranges; predicted, simulated, measured");
  app->add_option("MODEL|DIR", o.subject, "a model or a package")->required();
  app->add_option("--weights", o.weights,
                  "a safetensors file, none, or random:SEED, instead of the "
                  "model's own; none: branches that keep the second moment")
      ->type_name("SOURCE")
      ->check(weightsSource());
  app->add_option("--sample", o.sample,
                  "measure one run of the reference on N random tokens")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 16));
  app->add_option("--inputs", o.inputs,
                  "measure a run on these, named as the model names them")
      ->type_name("FILE");
  app->add_flag("--norms", o.norms,
                "bound every residual sum by operator norms of the weights");
  app->add_option("--keys", o.keys, "of a softmax (default: 128)")
      ->type_name("N")
      ->check(numberFrom(2, 1 << 24));
  app->add_option("--seed", o.seed,
                  "of simulated stacks and random tokens (default: 1)")
      ->type_name("N")
      ->check(numberFrom(0, INT64_MAX));
  app->add_flag("--units", o.units, "a line for every unit");
  app->add_flag("--json", o.json, "everything, for programs");
  app->add_option("--html", o.html, "also a page with drawings over depth")
      ->type_name("FILE");
  app->footer("docs/analyze.md says what each number means.");
}

static void addBench(CLI::App &root, BenchOptions &o) {
  CLI::App *app = root.add_subcommand(
      "bench", "how fast a package runs, and the share of this machine's peak");
  app->add_option("DIR", o.folder, "a package")->required();
  CLI::Option *batch =
      app->add_option("--batch", o.batch, "sequences (default: 1)")
          ->type_name("N")
          ->check(numberFrom(1, 1 << 20));
  CLI::Option *tokens =
      app->add_option("--tokens", o.tokens, "of each sequence (default: 128)")
          ->type_name("N")
          ->check(numberFrom(1, 1 << 24));
  app->add_option("--lengths", o.lengths,
                  "tokens of each sequence, padded to the longest")
      ->delimiter(',')
      ->type_name("LIST")
      ->check(numberFrom(1, 1 << 24))
      ->expected(1)
      ->take_all()
      ->excludes(batch)
      ->excludes(tokens);
  app->add_flag("--keep-padding", o.keepPadding,
                "compute rows of padding, not only tokens");
  app->add_option("--decoder-tokens", o.decoderTokens,
                  "of a decoder next to an encoder (default: 32)")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 24));
  app->add_option("--threads", o.threads, "default: 1")
      ->type_name("N")
      ->check(numberFrom(1, 64));
  app->add_option("--repeats", o.repeats,
                  "timed runs (default: about a second's, 5 at least)")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 20));
  app->add_option("--target", o.target,
                  "an instruction set of the package, or " +
                      llvm::join(deviceTargetNames(), " or "))
      ->type_name("TARGET")
      ->check(target(/*forCompile=*/false));
  deviceOption(app, o.device);
  app->add_flag("--kernels", o.kernels, "time and share of each kernel");
  app->add_flag("--json", o.json, "one JSON object instead of columns");
}

static void addReport(CLI::App &root, ReportOptions &o) {
  CLI::App *app =
      root.add_subcommand("report", "what was fused, what was not, and why");
  app->add_option("DIR", o.folder, "a package")->required();
}

static void addDevices(CLI::App &root, DevicesOptions &o) {
  CLI::App *app =
      root.add_subcommand("devices", "what this machine can run on");
  app->add_flag(
      "--measure", o.measure,
      "also its ceilings: operations in registers of each type, reading "
      "from memory, a word from core to core and back");
  app->add_option("--threads", o.threads, "that measure at once (default: 1)")
      ->type_name("N")
      ->check(numberFrom(1, 64));
  app->add_flag("--json", o.json,
                "the CPU and what was measured, as one JSON object");
}

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

// In our words what CLI11 found wrong; the second line is help.
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

// What the words alone cannot say.
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
  if (!o.name.empty() && !isIdentifier(o.name))
    return refuse("--name is '" + o.name +
                  "' but must be a C identifier of at most 63 characters");
  return true;
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
  addCompile(root, options.compile, options.tune, stage);
  addInit(root, options.init);
  addRun(root, options.run);
  addVerify(root, options.verify);
  addInspect(root, options.inspect);
  addAnalyze(root, options.analyze);
  addBench(root, options.bench);
  addReport(root, options.report);
  addDevices(root, options.devices);
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
                        .Default(Command::devices);
  if (options.command == Command::compile &&
      !checkCompile(options.compile, options.tune, stage)) {
    status = 2;
    return std::nullopt;
  }
  return options;
}
