// The options of `mille train`. Must not do what they ask for.
#pragma once
#include "compiler/driver/train/TokenData.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mille {

// How a masked language model's tokens are hidden; BERT's shares.
struct MaskOptions {
  double rate = 0; // of the tokens that are to be guessed; 0: no masks
  std::optional<int32_t> id;           // absent: the tokenizer's
  double replaced = 0.8, random = 0.1; // of the tokens to be guessed
  std::vector<int32_t> never;          // beside the tokenizer's special tokens
};

struct TrainOptions {
  std::string subject; // a package that trains, or a model
  std::string data, eval;
  TokenWidth width = TokenWidth::u16;
  int64_t steps = 0, batch = 8;
  int64_t tokens = 0;           // of a sequence of a flat file; 0: not given
  std::optional<uint64_t> seed; // of the order of data; absent: 0
  std::optional<double> rate;   // in place of the schedule's
  std::vector<std::string> numbers;    // NAME=VALUE, in place of the package's
  bool report = false;                 // at the end, what it has cost
  std::string save, resume, log, html; // files; "": none
  MaskOptions mask;
  int64_t every = 0, evalEvery = 0; // steps; 0: at the end
  unsigned threads = 0;             // 0: as many as CPUs
  std::string recompute, dtype;     // of a model; "": not given
  int64_t memory = 0;               // bytes; 0: any
};

} // namespace mille
