// Defines the options of each command and their values.
// Must not do what the options ask for.
#include "compiler/driver/OptionWords.h"

#include "compiler/driver/OptionChecks.h"
#include "compiler/driver/TextOptions.h"
#include "compiler/driver/train/TrainWords.h"
#include "compiler/fuse/Boundaries.h"
#include "compiler/import/schemes/Schemes.h"
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

void mille::deviceOption(CLI::App *app, std::string &device) {
  app->add_option("--device", device,
                  "run on this device: its number in `mille devices`, or "
                  "part of its name (default: the first GPU, else the first)")
      ->type_name("DEVICE");
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
         "what matmuls and attention read: f32, bf16, int8 (weights and "
         "inputs of matmuls in bytes, the rest bf16), or q8_0, q6_k, q5_k, "
         "q5_1, q5_0, iq4_xs, iq4_nl, q4_k, q4_1, q4_0, mxfp4 (weights in "
         "blocks of 8 to 4 bits, "
         "inputs in blocks of bytes, the rest f32), or stored (blocks as the "
         "file has them); then types of single weights, by name or pattern: "
         "q4_k,head.weight=q8_0,*.ffn.out.weight=q6_k")
      ->type_name("TYPE")
      ->check(dtypeChoice());
}

void mille::cacheOption(CLI::App *app, std::string &cache,
                        const std::string &of) {
  app->add_option("--cache", cache,
                  "what entries remember keys and values in" + of +
                      ": int8, bytes with a step for each token and head, or "
                      "f16, on CPUs (default: f32 in f32 packages, bf16 in "
                      "others)")
      ->type_name("TYPE")
      ->check(oneOf({"int8", "f16"}));
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
  app->add_flag("--train", o.train,
                "a package that trains, by the spec's key `train`: entries "
                "train_step and eval, weights of f32")
      ->excludes("--hidden-states");
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

static void addCompile(CLI::App &root, CompileOptions &o, bool &tune,
                       std::string &stage) {
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
  app->add_option("--calibrate", o.calibrate,
                  "a text: weights become blocks so that the columns that its "
                  "tokens make large lose least")
      ->type_name("FILE");
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
  CLI::App *app = addCommand(
      root, "init", "weights of a model by a scheme, as a safetensors file");
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
  CLI::App *app = addCommand(
      root, "run", "inputs from a safetensors file, outputs to another");
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
  app->add_option("--entry", o.entry,
                  "the function of the model to run (default: its first, "
                  "forward)")
      ->type_name("NAME");
  app->add_option("--state-in", o.stateIn,
                  "what the entry's states hold before the run (default: "
                  "nothing)")
      ->type_name("FILE");
  app->add_option("--state-out", o.stateOut, "and what they hold after it")
      ->type_name("FILE");
  app->add_option("--context", o.context,
                  "tokens of a sequence that states have room for (default: "
                  "those of this run and of `past`)")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 24));
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
  CLI::App *app = addCommand(root, "verify",
                             "compiled against reference, tensor by tensor");
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
  app->add_flag("--train", o.train,
                "of a package that trains, or of a model compiled so: every "
                "gradient of a step against the reference's")
      ->excludes("--certificate")
      ->excludes("--expected");
  app->add_flag("--json", o.json, "the same for programs");
  deviceOption(app, o.device);
  app->footer(
      "Status 1 where an expected answer differs, 4 where the reference "
      "does, or a rewrite moves more than its bound.");
}

static void addInspect(CLI::App &root, InspectOptions &o) {
  CLI::App *app =
      addCommand(root, "inspect",
                 "what a model is: placement, scales, norms, heads, sizes");
  app->add_option("MODEL|DIR", o.subject, "a model or a package")->required();
  app->add_flag("--json", o.json, "the same for programs");
}

static void addAnalyze(CLI::App &root, AnalyzeOptions &o) {
  CLI::App *app = addCommand(
      root, "analyze",
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
  app->add_flag("--gradients", o.gradients,
                "measure the exact gradients of the model's loss on the tokens "
                "of --sample or --inputs, unit by unit");
  app->add_flag("--units", o.units, "a line for every unit");
  app->add_flag("--json", o.json, "everything, for programs");
  app->add_option("--html", o.html, "also a page with drawings over depth")
      ->type_name("FILE");
  app->footer("docs/analyze.md says what each number means.");
}

static void addBench(CLI::App &root, BenchOptions &o) {
  CLI::App *app = addCommand(
      root, "bench",
      "how fast a package runs, and the share of this machine's peak");
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
  app->add_option("--entry", o.entry,
                  "the function of the model to run (default: its first, "
                  "forward)")
      ->type_name("NAME");
  app->add_option("--context", o.context,
                  "tokens that each sequence holds before the run, of an entry "
                  "with states (default: none)")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 24));
  app->add_flag("--keep-padding", o.keepPadding,
                "compute rows of padding, not only tokens");
  app->add_option_function<std::string>(
         "--image-size",
         [&o](const std::string &text) { o.imageSize = imageSizeIn(text); },
         "of a package whose runs choose it (default: the model's own)")
      ->type_name("SIZE")
      ->check(imageSize(""));
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
      addCommand(root, "report", "what was fused, what was not, and why");
  app->add_option("DIR", o.folder, "a package")->required();
  app->add_option("--html", o.html,
                  "also a page: units drawn, layers, fusions, kernels, memory")
      ->type_name("FILE");
  app->add_flag("--json", o.json, "everything, for programs");
  CLI::Option *measure = app->add_flag(
      "--measure", o.measure,
      "run it too: the time of each kernel beside what this machine can do");
  app->add_option("--batch", o.bench.batch, "sequences (default: 1)")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 20))
      ->needs(measure);
  app->add_option("--tokens", o.bench.tokens, "of each (default: 128)")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 24))
      ->needs(measure);
  app->add_option("--threads", o.bench.threads, "default: 1")
      ->type_name("N")
      ->check(numberFrom(1, 64))
      ->needs(measure);
}

static void addDevices(CLI::App &root, DevicesOptions &o) {
  CLI::App *app = addCommand(root, "devices", "what this machine can run on");
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

void mille::addCommands(CLI::App &root, Options &options, std::string &stage) {
  addCompile(root, options.compile, options.tune, stage);
  addInit(root, options.init);
  addRun(root, options.run);
  addVerify(root, options.verify);
  addInspect(root, options.inspect);
  addAnalyze(root, options.analyze);
  addBench(root, options.bench);
  addReport(root, options.report);
  addDevices(root, options.devices);
  addTokens(root, options.tokens);
  addGenerate(root, options.generate);
  addTrain(root, options.train);
  addExport(root, options.exporting);
}
