// Defines the options of `mille train` and `mille export`.
// Must not do what they ask for.
#include "compiler/driver/train/TrainWords.h"
#include "compiler/differentiate/Passes.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/OptionChecks.h"
#include "compiler/driver/SharedWords.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mille;

// A number from 0.
static CLI::Validator rate() {
  return CLI::Validator(
      [](std::string &text) {
        double value = 0;
        return llvm::StringRef(text).getAsDouble(value) || !(value >= 0)
                   ? "is '" + text + "' but must be a number from 0"
                   : std::string();
      },
      "");
}

static CLI::Validator recomputeWord() {
  return CLI::Validator(
      [](std::string &text) -> std::string {
        return differentiate::isRecompute(text)
                   ? ""
                   : "is '" + text +
                         "' but must be none, cheap, layer or segment:K, K "
                         "from 1";
      },
      "");
}

CLI::Option *mille::recomputeOption(CLI::App *app, std::string &word) {
  return app
      ->add_option("--recompute", word,
                   "what the backward pass computes anew, for less memory: "
                   "none, cheap (norms and activations), layer (all but each "
                   "layer's input) or segment:K (all but the input of every "
                   "K-th layer) (default: cheap)")
      ->type_name("WHAT")
      ->check(recomputeWord());
}

CLI::Option *mille::memoryOption(CLI::App *app, int64_t &bytes) {
  return app
      ->add_option("--memory", bytes,
                   "of a training, in bytes, or 500M, 8G: of the words of "
                   "--recompute that with the least work that fits")
      ->type_name("BYTES")
      ->transform(byteCount())
      ->excludes("--recompute");
}

static void dataOptions(CLI::App *app, TrainOptions &o) {
  app->add_option("--data", o.data,
                  "safetensors with input_ids [sequences, tokens] (labels, "
                  "attention_mask), or a flat file of token numbers")
      ->type_name("FILE")
      ->required();
  app->add_option("--token-type", o.width,
                  "of a flat file: u8 (the bytes of a text), u16 or u32, "
                  "little-endian (default: u16)")
      ->type_name("TYPE")
      ->transform(oneOf({"u8", "u16", "u32"}) &
                  CLI::Transformer(std::map<std::string, TokenWidth>{
                                       {"u8", TokenWidth::u8},
                                       {"u16", TokenWidth::u16},
                                       {"u32", TokenWidth::u32}})
                      .description(""))
      ->type_name("TYPE");
  app->add_option("--tokens", o.tokens,
                  "of a sequence of a flat file (default: the most that the "
                  "model takes)")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 24));
}

static void maskOptions(CLI::App *app, MaskOptions &o) {
  app->add_option("--mask", o.rate,
                  "trains a masked language model: this share of the tokens is "
                  "to be guessed (BERT: 0.15)")
      ->type_name("SHARE")
      ->check(realFrom(0, 1));
  app->add_option("--mask-id", o.id,
                  "the token that hides others (default: the tokenizer's mask)")
      ->type_name("ID")
      ->check(numberFrom(0, INT32_MAX))
      ->needs("--mask");
  app->add_option("--mask-replace", o.replaced,
                  "of the tokens to be guessed, the share that it hides "
                  "(default: 0.8)")
      ->type_name("SHARE")
      ->check(realFrom(0, 1))
      ->needs("--mask");
  app->add_option("--mask-random", o.random,
                  "and the share that any token replaces; others stay "
                  "(default: 0.1)")
      ->type_name("SHARE")
      ->check(realFrom(0, 1))
      ->needs("--mask");
  app->add_option("--mask-never", o.never,
                  "tokens that are never to be guessed, beside the tokenizer's "
                  "special ones, the mask and padding")
      ->type_name("ID,...")
      ->delimiter(',')
      ->check(numberFrom(0, INT32_MAX))
      ->needs("--mask");
}

void mille::addTrain(CLI::App &root, TrainOptions &o) {
  CLI::App *app =
      addCommand(root, "train",
                 "trains a language model on a file of tokens, step by step");
  app->add_option("DIR|MODEL", o.subject,
                  "a package compiled with --train; a model is compiled first, "
                  "for this training only")
      ->required();
  dataOptions(app, o);
  maskOptions(app, o.mask);
  app->add_option("--batch", o.batch, "sequences of a step (default: 8)")
      ->type_name("N")
      ->check(numberFrom(1, 1 << 20));
  app->add_option("--steps", o.steps, "how many more steps")
      ->type_name("N")
      ->required()
      ->check(numberFrom(0, INT64_MAX >> 32));
  app->add_option("--rate", o.rate,
                  "learning rate of every step, in place of the model's "
                  "schedule")
      ->type_name("X")
      ->check(rate());
  app->add_option("--set", o.numbers,
                  "a number in place of the package's: peak_rate, end_rate, "
                  "warmup, steps, clip, momentum, beta1, beta2, epsilon, "
                  "dropout_seed, step, rate:PATTERN or weight_decay:PATTERN of "
                  "parameters, or a scheduled scale")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  app->add_option("--seed", o.seed,
                  "of the order of the data (default: 0, or that of --resume)")
      ->type_name("N")
      ->check(numberFrom(0, INT64_MAX));
  app->add_option("--save", o.save,
                  "write a checkpoint here at the end: one safetensors file, "
                  "whole or not at all")
      ->type_name("FILE");
  app->add_option("--every", o.every, "and after each N steps")
      ->type_name("N")
      ->check(numberFrom(1, INT64_MAX >> 32));
  app->add_option("--resume", o.resume, "go on from a checkpoint")
      ->type_name("FILE");
  app->add_option("--eval", o.eval,
                  "data like that of --data; its loss is told at the end")
      ->type_name("FILE");
  app->add_option("--eval-every", o.evalEvery, "and after each N steps")
      ->type_name("N")
      ->check(numberFrom(1, INT64_MAX >> 32));
  app->add_option("--log", o.log, "a line of JSON for each step")
      ->type_name("FILE");
  app->add_option("--html", o.html,
                  "a page with the curves of the loss, which a browser reads "
                  "again while the training runs")
      ->type_name("FILE");
  app->add_flag("--report", o.report,
                "tell at the end what took time and memory, and the length of "
                "each layer's gradient");
  recomputeOption(app, o.recompute);
  memoryOption(app, o.memory);
  app->add_option("--dtype", o.dtype,
                  "what matmuls and attention of a MODEL read: f32, or bf16 "
                  "beside weights of f32 (default: f32)")
      ->type_name("TYPE")
      ->check(oneOf({"f32", "bf16"}));
  app->add_option("--threads", o.threads,
                  "default: one a CPU; same bits for any")
      ->type_name("N")
      ->check(numberFrom(1, 64));
  app->footer("Examples:\n"
              "  mille train gpt.json --data=text.txt --token-type=u8 "
              "--steps=500 --save=gpt.safetensors\n"
              "  mille compile gpt.json --weights=gpt.safetensors -o gpt");
}

void mille::addExport(CLI::App &root, ExportOptions &o) {
  CLI::App *app =
      addCommand(root, "export",
                 "a checkpoint becomes a Hugging Face folder: config.json and "
                 "model.safetensors with the family's names");
  app->add_option("CHECKPOINT", o.checkpoint,
                  "a safetensors file of mille train or mille init")
      ->required();
  app->add_option("--model", o.model,
                  "what was trained: a native spec (*.json), whose program a "
                  "Hugging Face family must have, or a Hugging Face folder")
      ->type_name("MODEL")
      ->required();
  app->add_option("-o,--output", o.folder, "folder for the files")
      ->type_name("DIR")
      ->required();
  app->footer("Examples:\n"
              "  mille export gpt.safetensors --model=gpt.json -o gpt-hf");
}

Status mille::checkOptions(TrainOptions &o) {
  if (o.every && o.save.empty())
    return refuseOptions(
        "--every is given but --save is not: there is no file to "
        "save to");
  if (o.evalEvery && o.eval.empty())
    return refuseOptions(
        "--eval-every is given but --eval is not: there is no data "
        "to evaluate on");
  if (o.mask.replaced + o.mask.random > 1)
    return refuseOptions(
        "--mask-replace is " + llvm::formatv("{0:f2}", o.mask.replaced).str() +
        " and --mask-random " + llvm::formatv("{0:f2}", o.mask.random).str() +
        " but they must be at most 1 together");
  return Status::done;
}
