// Defines the options of commands that read models, and their values.
// Must not do what the options ask for.
#include "compiler/driver/OptionWords.h"

#include "compiler/driver/OptionChecks.h"
#include "compiler/driver/SharedWords.h"
#include "compiler/import/schemes/Schemes.h"
#include "compiler/kernels/Targets.h"
#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>

using namespace mille;
using llvm::StringRef;

void mille::addInit(CLI::App &root, InitOptions &o) {
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

void mille::addRun(CLI::App &root, RunOptions &o) {
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

void mille::addVerify(CLI::App &root, VerifyOptions &o) {
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

void mille::addInspect(CLI::App &root, InspectOptions &o) {
  CLI::App *app =
      addCommand(root, "inspect",
                 "what a model is: placement, scales, norms, heads, sizes");
  app->add_option("MODEL|DIR", o.subject, "a model or a package")->required();
  app->add_flag("--json", o.json, "the same for programs");
}

void mille::addAnalyze(CLI::App &root, AnalyzeOptions &o) {
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

void mille::addReport(CLI::App &root, ReportOptions &o) {
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
  app->add_option("--tokens", o.bench.tokens,
                  "of each (default: 128, or the model's most)")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 24))
      ->needs(measure);
  app->add_option("--threads", o.bench.threads, "default: 1")
      ->type_name("N")
      ->check(numberFrom(1, 64))
      ->needs(measure);
}
