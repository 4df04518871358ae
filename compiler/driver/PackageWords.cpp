// Defines the options of the commands of packages, and checks which go
// together.
// Must not do what they ask for.
#include "compiler/driver/PackageWords.h"

#include "compiler/driver/OptionChecks.h"
#include "compiler/driver/SharedWords.h"
#include "compiler/kernels/Targets.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mille;

void mille::addTokens(CLI::App &root, TokensOptions &o) {
  CLI::App *app =
      addCommand(root, "tokens",
                 "ids of a text, or the text of ids, by a model's tokenizer");
  app->add_option("DIR|MODEL", o.subject,
                  "a package with a NAME.tokens, or a Hugging Face folder "
                  "with a tokenizer.json")
      ->required();
  CLI::Option *encode =
      app->add_option("--encode", o.encode, "print the ids of this text")
          ->type_name("TEXT");
  CLI::Option *file = app->add_option("--encode-file", o.encodeFile,
                                      "print the ids of this file's text")
                          ->type_name("FILE")
                          ->excludes(encode);
  app->add_option("--decode", o.decode, "print the text of these ids")
      ->delimiter(',')
      ->type_name("LIST")
      ->check(numberFrom(0, INT32_MAX))
      ->expected(1)
      ->take_all()
      ->excludes(encode)
      ->excludes(file);
  app->add_flag("--no-special", o.noSpecial,
                "special tokens in a text are text; special tokens among ids "
                "are left out");
  app->add_flag("--no-ends", o.noEnds,
                "without the tokens that stand before and after every text");
  app->add_flag("--pieces", o.pieces,
                "a line for each token: its id, and its bytes in quotes");
  app->footer("Examples:\n"
              "  mille tokens out --encode='The capital of France is'\n"
              "  mille tokens minilm/ --encode-file=page.txt --pieces\n"
              "  mille tokens out --decode=464,3139,286");
  app->parse_complete_callback([&o] {
    if (!o.encode && !o.encodeFile && !o.decode)
      throw CLI::ValidationError("--encode",
                                 "is required, or --encode-file, or --decode");
  });
}

static void addSampling(CLI::App *app, mille_sampling &o) {
  app->add_option("--temperature", o.temperature,
                  "divides the logits; 0: always the likeliest token, of equal "
                  "ones that of the lowest id (default: 0.8)")
      ->type_name("T")
      ->check(realFrom(0, 1000000));
  app->add_option("--top-k", o.top_k,
                  "draw from the K likeliest tokens; 0: from all (default: 40)")
      ->type_name("K")
      ->check(numberFrom(0, INT32_MAX));
  app->add_option("--typical", o.typical,
                  "draw from the tokens whose surprise is nearest to the "
                  "expected one, and that have this share (default: 1)")
      ->type_name("P")
      ->check(realAboveZero(1));
  app->add_option("--top-p", o.top_p,
                  "draw from the fewest tokens that have this share of the "
                  "probability (default: 0.95)")
      ->type_name("P")
      ->check(realAboveZero(1));
  app->add_option("--min-p", o.min_p,
                  "draw from tokens with this share of the likeliest one's "
                  "probability (default: 0.05)")
      ->type_name("P")
      ->check(realFrom(0, 1));
  app->add_option("--repeat-penalty", o.repetition_penalty,
                  "divides the positive logits of tokens that are there "
                  "already, and multiplies the negative ones (default: 1)")
      ->type_name("R")
      ->check(realAboveZero(1000000));
  app->add_option("--presence-penalty", o.presence_penalty,
                  "taken from the logits of tokens that are there already "
                  "(default: 0)")
      ->type_name("R")
      ->check(realFrom(-1000000, 1000000));
  app->add_option("--frequency-penalty", o.frequency_penalty,
                  "the same, as often as a token is there (default: 0)")
      ->type_name("R")
      ->check(realFrom(-1000000, 1000000));
  app->add_option("--repeat-last", o.repeat_last,
                  "penalties look at the last N tokens; 0: at all "
                  "(default: 0)")
      ->type_name("N")
      ->check(numberFrom(0, INT32_MAX));
  app->add_option("--seed", o.seed,
                  "the same seed draws the same tokens (default: 0)")
      ->type_name("N")
      ->check(numberFrom(0, INT64_MAX));
}

// An id and a number that is added to its logit: "13:-2.5", "13:-inf".
static void takeBias(const std::string &word, GenerateOptions &o) {
  llvm::StringRef id, bias;
  std::tie(id, bias) = llvm::StringRef(word).split(':');
  int32_t number = 0;
  double added = 0;
  if (id.getAsInteger(10, number) || number < 0 || bias.getAsDouble(added) ||
      std::isnan(added))
    throw CLI::ValidationError("--logit-bias", "'" + word +
                                                   "' is not ID:BIAS, such as "
                                                   "13:-2.5 or 13:-inf");
  o.biasIds.push_back(number);
  o.biases.push_back(added);
}

static void addGuesses(CLI::App *app, GenerateOptions &o) {
  CLI::Option *speculate =
      app->add_option("--speculate", o.speculate,
                      "run guesses beside each token, which change no token: "
                      "ngram guesses what stood behind the same tokens before")
          ->type_name("HOW")
          ->check(oneOf({"ngram"}));
  app->add_option("--draft", o.draft,
                  "guess what this smaller model says, which has the same "
                  "vocabulary")
      ->type_name("DIR|MODEL")
      ->excludes(speculate);
  app->add_option("--guesses", o.guesses,
                  "how many of them beside a token (default: 4)")
      ->type_name("N")
      ->check(numberFrom(1, 64));
}

// Beams, and what a decoder beside an encoder begins with.
static void addBeams(CLI::App *app, GenerateOptions &o) {
  app->add_option("--begin", o.begin,
                  "ids that the decoder beside an encoder begins with "
                  "(default: the model's decoder_start_token_id)")
      ->delimiter(',')
      ->type_name("LIST")
      ->check(numberFrom(0, INT32_MAX))
      ->expected(1)
      ->take_all();
  app->add_option("--beams", o.beams,
                  "search for the likeliest answer with so many beams; 1: the "
                  "likeliest token at each step (default: tokens are drawn; "
                  "beside an encoder the model's num_beams)")
      ->type_name("N")
      ->check(numberFrom(1, 8));
  app->add_option("--length-penalty", o.lengthPenalty,
                  "divides a beam's score by its tokens to this power "
                  "(default: the model's, else 1)")
      ->type_name("P")
      ->check(realFrom(-1000, 1000));
  app->add_option("--early-stopping", o.earlyStopping,
                  "end when as many beams have ended as there are: true; when "
                  "none is likely to become better: false; when none can: "
                  "never (default: the model's, else false)")
      ->type_name("WHEN")
      ->check(oneOf({"true", "false", "never"}));
  app->add_option("--no-repeat", o.noRepeat,
                  "no N tokens come twice in a row of a beam; 0: they may "
                  "(default: the model's no_repeat_ngram_size, else 0)")
      ->type_name("N")
      ->check(numberFrom(0, 1 << 20));
}

// Whether tokens are drawn, and whether what is asked of beams says otherwise.
static void checkDraws(CLI::App *app, GenerateOptions &o) {
  const char *const ofDraws[] = {"--temperature",
                                 "--top-k",
                                 "--typical",
                                 "--top-p",
                                 "--min-p",
                                 "--repeat-penalty",
                                 "--presence-penalty",
                                 "--frequency-penalty",
                                 "--repeat-last",
                                 "--seed",
                                 "--logit-bias",
                                 "--logprobs",
                                 "--logits",
                                 "--speculate",
                                 "--draft",
                                 "--drop-oldest"};
  const char *const ofBeams[] = {"--beams", "--length-penalty",
                                 "--early-stopping", "--no-repeat"};
  for (const char *draw : ofDraws) {
    if (!app->count(draw))
      continue;
    o.draws = true;
    for (const char *search : ofBeams)
      if (app->count(search))
        throw CLI::ValidationError(search, "is of a search but " +
                                               std::string(draw) +
                                               " is of tokens that are drawn");
  }
}

// The options for the text to continue: exactly one of these, or --chat.
static void addPrompt(CLI::App *app, GenerateOptions &o) {
  CLI::Option *prompt =
      app->add_option("--prompt", o.prompt, "continue this text")
          ->type_name("TEXT");
  CLI::Option *messages =
      app->add_option("--messages", o.messages,
                      "answer a conversation in the model's chat format: "
                      "{\"messages\": [{\"role\": \"user\", \"content\": "
                      "\"...\"}, ...]}")
          ->type_name("FILE")
          ->excludes(prompt);
  CLI::Option *ids = app->add_option("--ids", o.ids, "continue these ids")
                         ->delimiter(',')
                         ->type_name("LIST")
                         ->check(numberFrom(0, INT32_MAX))
                         ->expected(1)
                         ->take_all()
                         ->excludes(prompt)
                         ->excludes(messages);
  CLI::Option *source =
      app->add_option("--source", o.source,
                      "continue what an encoder makes of numbers: a file with "
                      "its input, such as input_features")
          ->type_name("FILE.safetensors")
          ->excludes(prompt)
          ->excludes(messages)
          ->excludes(ids);
  CLI::Option *chat =
      app->add_flag("--chat", o.chat,
                    "answer each line of the standard input, a turn of a "
                    "conversation; Ctrl-C ends an answer")
          ->excludes(prompt)
          ->excludes(messages)
          ->excludes(ids)
          ->excludes(source);
  app->add_option("--system", o.system,
                  "what the system says at the beginning of a chat")
      ->type_name("TEXT")
      ->needs(chat);
}

// What is said of each token beside its text.
static void addSaid(CLI::App *app, GenerateOptions &o) {
  CLI::Option *json =
      app->add_flag("--json", o.json, "a line of JSON for each token");
  app->add_option("--logprobs", o.logprobs,
                  "in it the logarithm of the token's probability, and the N "
                  "likeliest ones with theirs (without =N: none)")
      ->type_name("N")
      ->check(numberFrom(0, 1000))
      ->expected(0, 1)
      ->default_str("0")
      ->needs(json);
  app->add_option("--logits", o.logits,
                  "write the logits that each token was drawn from, [tokens, "
                  "vocabulary], and the tokens' ids")
      ->type_name("FILE.safetensors")
      ->excludes("--chat");
}

void mille::addGenerate(CLI::App &root, GenerateOptions &o) {
  CLI::App *app =
      addCommand(root, "generate", "continue a text, or chat, token by token");
  app->add_option("DIR|MODEL", o.subject,
                  "a package compiled with --entries=next, and with a "
                  "NAME.tokens for anything but --ids; or a GGUF file or a "
                  "model's folder, which is compiled into the cache first")
      ->required();
  app->add_option("--dtype", o.dtype,
                  "what a MODEL is compiled in (default: the blocks that a "
                  "GGUF stores, on a device bf16 in their place; else f32)")
      ->type_name("NAME")
      ->check(dtypeChoice());
  cacheOption(app, o.cache, " where a MODEL is compiled");
  calibrateOption(app, o.calibrate, " of a MODEL");
  app->add_option("--target", o.target,
                  "an instruction set of the package, or a device: " +
                      llvm::join(deviceTargetNames(), ", ") +
                      "; what a MODEL is compiled for")
      ->type_name("TARGET")
      ->check(target(/*forCompile=*/true));
  deviceOption(app, o.device);
  addPrompt(app, o);
  app->add_option("--max-tokens", o.maxTokens,
                  "stop after so many (default: 256)")
      ->type_name("N")
      ->check(numberFrom(1, INT32_MAX));
  addSampling(app, o.sampling);
  addBeams(app, o);
  app->add_option_function<std::vector<std::string>>(
         "--logit-bias",
         [&o](const std::vector<std::string> &words) {
           for (const std::string &word : words)
             takeBias(word, o);
         },
         "add a number to the logit of an id (-inf: never draw it); may be "
         "given again")
      ->type_name("ID:BIAS")
      ->expected(1)
      ->take_all();
  addGuesses(app, o);
  app->add_option("--stop", o.stops,
                  "stop before this text; may be given again")
      ->type_name("TEXT");
  app->add_option("--context", o.context,
                  "tokens that there is room for (default: those of the "
                  "prompt, or of --begin, and --max-tokens; of a chat 4096)")
      ->type_name("N")
      ->check(numberFrom(1, INT32_MAX));
  app->add_flag("--drop-oldest", o.dropOldest,
                "go on where the context is full, without the older half of "
                "it; a chat forgets its oldest turns (default: end there)");
  app->add_option("--threads", o.threads, "default: one for each core")
      ->type_name("N")
      ->check(numberFrom(1, 64));
  app->add_flag("--stats", o.stats,
                "say how many tokens a second, on the error output");
  addSaid(app, o);
  app->footer("Examples:\n"
              "  mille compile model.gguf -o out --entries=next --dtype=bf16\n"
              "  mille generate out --prompt='The capital of France is'\n"
              "  mille generate out --messages=chat.json --temperature=0 "
              "--stats\n"
              "  mille generate model.gguf --chat");
  app->parse_complete_callback([&o, app] {
    checkDraws(app, o);
    if (!o.prompt && !o.messages && !o.ids && !o.source && !o.chat)
      throw CLI::ValidationError(
          "--prompt", "is required, or --messages, --ids, --source, or --chat");
  });
}

void mille::addBench(CLI::App &root, BenchOptions &o) {
  CLI::App *app = addCommand(
      root, "bench",
      "how fast a package runs, and the share of this machine's peak");
  app->add_option("DIR", o.folder, "a package")->required();
  CLI::Option *batch =
      app->add_option("--batch,--sequences", o.batch, "sequences (default: 1)")
          ->type_name("N")
          ->check(numberFrom(1, 1 << 20));
  CLI::Option *tokens =
      app->add_option("--tokens", o.tokens,
                      "of each sequence (default: 128, or the model's most)")
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
                  "of a decoder next to an encoder (default: 32, or the "
                  "model's most)")
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

void mille::addDevices(CLI::App &root, DevicesOptions &o) {
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
