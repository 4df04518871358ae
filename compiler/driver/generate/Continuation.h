// A sequence that a package continues, token by token, perhaps with guesses.
// Must not know how a token is drawn or said.
#pragma once
#include "compiler/driver/package/Compiled.h"
#include "generation/mille_generation.h"

namespace mille {

class Continuation {
public:
  // What a sequence is opened for.
  struct Wishes {
    unsigned threads = 0;
    int64_t context = 0; // tokens that there is room for
    int64_t guesses = 0; // that run beside a token
  };

  // An error where the package has no such entry, or where it wants more than
  // ids.
  static Status open(const Package &package, mlir::MLIRContext &context,
                     const Wishes &wishes,
                     std::unique_ptr<Continuation> &continuation);
  ~Continuation() { mille_generation_close(generation); }

  // Holds these ids: what it holds of them already stays, the others run.
  // ran: how many. There is at least one id.
  Status follow(llvm::ArrayRef<int32_t> ids, size_t &ran);
  Status append(int32_t id);
  // Runs what was appended, and guesses with it.
  Status decode();
  Status sample(const mille_sampling &sampling, int32_t &id);
  // Log-probabilities of the likeliest ids, and of one.
  Status likeliest(llvm::MutableArrayRef<int32_t> ids,
                   llvm::MutableArrayRef<double> logprobs);
  Status logprob(int32_t id, double &logprob);
  Status guessNgram();
  Status guessDraft(Continuation &draft);

  size_t held() const;
  int64_t vocabulary() const { return mille_generation_vocabulary(generation); }

private:
  Status judge(mille_status status);

  std::unique_ptr<Compiled> compiled;
  mille_generation *generation = nullptr;
  int64_t sequence = 0;
};

} // namespace mille
