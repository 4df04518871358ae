// Defines the options of `mille compile`, and checks which go together.
// Must not do what they ask for.
#include "compiler/driver/CompileWords.h"

#include "compiler/driver/Console.h"
#include "compiler/driver/OptionChecks.h"
#include "compiler/driver/SharedWords.h"
#include "compiler/driver/train/TrainWords.h"
#include "compiler/fuse/Boundaries.h"
#include "compiler/kernels/Targets.h"
#include "compiler/rewrite/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>

using namespace mille;
using llvm::StringRef;

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

// Without the option, all rewrites apply where they save work. Named rewrites
// apply wherever their law holds.
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

// The entries that the compiler adds to the model's first.
static void entriesOption(CLI::App *app, std::vector<std::string> &into) {
  listOption(app, "--entries", into,
             "functions of the model beside forward: encode and decode of an "
             "encoder with a decoder; text, image, audio of towers; extend of "
             "a decoder, which remembers keys and values, and next, which is "
             "extend with the outputs of the last token alone; or all",
             oneOf({"forward", "encode", "decode", "text", "image", "audio",
                    "extend", "next", "all"}));
}

static void dtypeOption(CLI::App *app, std::string &dtype) {
  app->add_option(
         "--dtype", dtype,
         "what matmuls and attention read: f32, f16 (on devices), bf16, int8 "
         "(weights and "
         "inputs of matmuls in bytes, the rest bf16), fp8 (the same in floats "
         "of 8 bits, on Hopper), or q8_0, q6_k, q5_k, "
         "q5_1, q5_0, iq4_xs, iq4_nl, q4_k, q4_1, q4_0, mxfp4 (weights in "
         "blocks of 8 to 4 bits, "
         "inputs in blocks of bytes, the rest f32), or stored (blocks as the "
         "file has them); then types of single weights, by name or pattern: "
         "q4_k,head.weight=q8_0,*.ffn.out.weight=q6_k")
      ->type_name("TYPE")
      ->check(dtypeChoice());
}

static void imageOptions(CLI::App *app, CompileOptions &o) {
  app->add_option_function<std::string>(
         "--image-size",
         [&o](const std::string &text) {
           o.anyImageSize = text == "any";
           o.imageSize = imageSizeIn(text);
         },
         "pixels of an image, 224, or height x width, 480x640, in place of the "
         "model's image_size; any: each run chooses height and width")
      ->type_name("SIZE")
      ->check(imageSize("any"));
  app->add_option_function<std::string>(
         "--max-image-size",
         [&o](const std::string &text) { o.mostImageSize = imageSizeIn(text); },
         "the largest image of --image-size=any, as pixels or height x width")
      ->type_name("SIZE")
      ->check(imageSize(""));
}

static void trainingOptions(CLI::App *app, CompileOptions &o) {
  CLI::Option *train = app->add_flag(
      "--train", o.train,
      "a package that trains, by the spec's key `train`: entries train_step "
      "and eval, weights of f32");
  // A step changes the parameters: nothing is computed of them before a run.
  for (const char *inference :
       {"--hidden-states", "--fold-schedules", "--cache"})
    train->excludes(inference);
  recomputeOption(app, o.recompute)->needs("--train");
  memoryOption(app, o.memory.bytes)->needs("--train");
  app->add_option("--batch", o.memory.batch,
                  "sequences of the step that --memory is for (default: 8)")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 20))
      ->needs("--memory");
  app->add_option("--tokens", o.memory.tokens,
                  "of each of them (default: the most that the model takes)")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 24))
      ->needs("--memory");
}

void mille::addCompile(CLI::App &root, CompileWords &o) {
  CLI::App *app =
      addCommand(root, "compile",
                 "a model becomes a shared library, an object, a header and "
                 "packed weights");
  app->add_option("MODEL", o.model,
                  "a Hugging Face folder (config.json and *.safetensors), a "
                  "native spec (*.json), *.gguf or .mlir")
      ->required();
  app->add_option("-o,--output", o.folder,
                  "folder for NAME.so .a .h .weights .json .mlir .tokens")
      ->type_name("DIR");
  listOption(app, "--target", o.targets,
             "instruction sets and devices, all in one artifact: host, " +
                 llvm::join(targetNames(), ", ") +
                 " (default: this machine's best, and " + leastTarget().name +
                 ")",
             target(/*forCompile=*/true));
  dtypeOption(app, o.dtype);
  cacheOption(app, o.keyCache, "");
  calibrateOption(app, o.calibrate, "");
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
  trainingOptions(app, o);
  app->add_flag("--embed-weights", o.embedWeights,
                "put the weights into the object");
  app->add_option("--weights", o.weights,
                  "a safetensors file, none (a package without NAME.weights, "
                  "which does not run), or random:SEED, instead of the "
                  "model's own")
      ->type_name("SOURCE")
      ->check(weightsSource());
  imageOptions(app, o);
  entriesOption(app, o.entries);
  app->add_option("--name", o.name,
                  "NAME of the files and prefix of the C functions (default: "
                  "from the path)")
      ->type_name("NAME");
  app->add_option("--stop-after", o.stopStage,
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
      "--tune", o.tune,
      "measure on this machine the tiles that the model of a core finds "
      "nearly as good, and take the fastest of each kernel; NAME.json "
      "holds them");
  app->footer("Examples:\n"
              "  mille compile minilm/ -o out\n"
              "  mille compile spec.json -o out --target=host,x86-64-v3\n"
              "  mille compile spec.json --stop-after=fuse");
}

Status mille::checkOptions(CompileWords &o) {
  const std::string &stage = o.stopStage;
  if (!stage.empty()) {
    o.stopAfter = stageNamed(stage);
    if (!o.stopAfter || !rungOf(*o.stopAfter).prints)
      return refuseOptions("--stop-after is '" + stage +
                           "' but must be one of " + stagesThatPrint());
  }
  if (o.train && o.rewrites && !o.rewrites->empty())
    return refuseOptions("--train is given but --rewrites asks for "
                         "parameters made of others, which no step changes: "
                         "a package that trains has none of them");
  if (o.tune && o.stopAfter)
    return refuseOptions(
        "--tune measures a package but --stop-after makes none",
        "mille compile MODEL -o DIR --tune");
  if (!o.folder.empty() && o.stopAfter)
    return refuseOptions(
        "-o is given but --stop-after makes no package: it prints the IR",
        "mille compile MODEL --stop-after=STAGE > FILE.mlir");
  if (o.folder.empty() && !o.stopAfter)
    return refuseOptions("-o is required: the folder for the package",
                         "mille compile MODEL -o DIR");
  if (!o.name.empty() && !isModelName(o.name))
    return refuseOptions(
        "--name is '" + o.name +
        "' but must be a C identifier of at most 63 characters");
  return Status::done;
}
