// The command line as data. The words are a contract: see docs/commands.md.
// Must not do what the options ask for.
#pragma once
#include "compiler/driver/Compile.h"
#include "compiler/driver/train/TrainOptions.h"
#include "generation/mille_generation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mille {

struct CompileWords : CompileOptions {
  bool tune = false;     // measure tiles first
  std::string stopStage; // the word of --stop-after; "": not given
};

struct RunOptions {
  std::string subject; // a package or a model
  std::string inputs, outputs;
  std::string entry;             // "": the first
  std::string stateIn, stateOut; // files; "": none
  int64_t context = 0;           // tokens that states hold; 0: the run's number
  unsigned threads = 1;
  std::vector<std::string> only; // names of outputs; empty: all
  bool hiddenStates = false, keepPadding = false, check = false;
  std::string target; // "", one of targetNames(), "reference"
  std::string device; // a number or a name; "": the best
};

struct VerifyOptions {
  std::string subject;
  std::string device; // as in RunOptions
  std::string inputs, expected;
  bool certificate = false, json = false, train = false;
  unsigned threads = 1;
};

struct BenchOptions {
  std::string folder;
  std::string entry;              // "": the first
  std::optional<int64_t> context; // tokens that states hold; absent: none
  std::string target, device;     // as in RunOptions
  int64_t batch = 1;
  // Absent: 128, and 32 of a decoder; at most what the model takes.
  std::optional<int64_t> tokens, decoderTokens;
  std::vector<int64_t> lengths; // of the sequences, in place of batch, tokens
  std::optional<ImageSize> imageSize; // absent: the model's own
  unsigned threads = 1;
  unsigned repeats = 0; // 0: as many as fit in a second, but at least 5
  bool keepPadding = false, kernels = false, json = false;
};

struct InspectOptions {
  std::string subject;
  bool json = false;
};

struct ReportOptions {
  std::string folder, html;
  bool measure = false, json = false;
  BenchOptions bench; // of --measure
};

struct DevicesOptions {
  bool measure = false, json = false;
  unsigned threads = 1;
};

struct InitOptions {
  std::string model, output;
  std::string scheme;           // "": the model's own
  std::optional<uint64_t> seed; // absent: the spec's, else 0
  unsigned threads = 1;
};

struct ExportOptions {
  std::string checkpoint, model, folder;
};

struct AnalyzeOptions {
  std::string subject, weights, inputs, html;
  int64_t keys = 128, sample = 0;
  uint64_t seed = 1;
  bool norms = false, units = false, gradients = false, json = false;
};

struct TokensOptions {
  std::string subject; // a package or a model's folder
  std::optional<std::string> encode, encodeFile;
  std::optional<std::vector<int64_t>> decode;
  bool noSpecial = false, noEnds = false, pieces = false;
};

struct GenerateOptions {
  std::string subject; // a package with the entry `next`, or a model
  std::string dtype;   // for a model, which is compiled first; "": the default
  std::string cache;   // the same of keys and values
  std::string calibrate;      // a text that a model's blocks are rounded for
  std::string target, device; // "": what the package has first; the first one
  std::optional<std::string> prompt, messages, system;
  std::optional<std::vector<int64_t>> ids;
  std::optional<std::vector<int64_t>> begin; // of a decoder beside an encoder
  std::optional<std::string> source;         // numbers that it encodes
  std::optional<int64_t> beams, noRepeat;    // absent: as the model says
  std::optional<double> lengthPenalty;
  std::string earlyStopping;
  bool draws = false; // an option says how tokens are drawn
  int64_t maxTokens = 256;
  int64_t context = 0; // tokens that the session holds; 0: as many as needed
  mille_sampling sampling = MILLE_SAMPLING_INIT;
  std::vector<int32_t> biasIds; // --logit-bias: ids, and what it adds to each
  std::vector<double> biases;
  std::vector<std::string> stops;
  std::optional<int64_t> logprobs;
  std::string logits;           // a file for those of each token; "": none
  std::string speculate, draft; // guesses by n-grams, by a package; "": none
  int64_t guesses = 4;
  unsigned threads = 0;
  bool chat = false, stats = false, json = false;
  bool dropOldest = false; // where the context is full
};

struct CommandRow;

struct Options {
  const CommandRow *command; // which of the members below is meant
  CompileWords compile;
  InitOptions init;
  RunOptions run;
  VerifyOptions verify;
  InspectOptions inspect;
  AnalyzeOptions analyze;
  BenchOptions bench;
  ReportOptions report;
  DevicesOptions devices;
  TokensOptions tokens;
  GenerateOptions generate;
  TrainOptions train;
  ExportOptions exporting;
  std::string line; // as typed, for reproducers
};

// Parses the command line of a program with these commands. If nothing is left
// to do, the result is empty: help and version have been printed to stdout
// (status 0), or a mistake has been explained on stderr (status 2).
std::optional<Options> parseCommandLine(int argc, const char *const *argv,
                                        llvm::ArrayRef<CommandRow> commands,
                                        int &status);

// Checks options of a command against each other, and says what is wrong.
// Most commands check each option alone.
template <typename OptionsOfCommand> Status checkOptions(OptionsOfCommand &) {
  return Status::done;
}
Status checkOptions(CompileWords &options);
Status checkOptions(TrainOptions &options);

} // namespace mille
