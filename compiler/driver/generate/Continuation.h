// A sequence that a package continues, token by token or with guesses.
// Must not know how a token is drawn or becomes text.
#pragma once
#include "compiler/driver/package/Compiled.h"
#include "generation/mille_generation.h"

namespace mille {

class Continuation {
public:
  // The settings of a sequence.
  struct Wishes {
    unsigned threads = 0;
    int64_t context = 0; // the most tokens that it can hold
    int64_t guesses = 0; // the most guesses that run beside a token
    int64_t beams = 1;   // the most beams of a search
    int64_t source = 0;  // the most tokens of an encoder's source
    std::string code;    // as Compiled::open takes it
  };

  // Fails if the package has no entry for generation, or if that entry has
  // inputs other than ids.
  static Status open(const Package &package, mlir::MLIRContext &context,
                     const Wishes &wishes,
                     std::unique_ptr<Continuation> &continuation);
  ~Continuation() { mille_generation_close(generation); }

  // Makes the sequence hold exactly these ids, at least one. It keeps the
  // common beginning and runs the others. ran: the number of ids that ran.
  Status follow(llvm::ArrayRef<int32_t> ids, size_t &ran);
  // Encodes what the sequence continues from now on: ids, or the numbers of the
  // encoder's input.
  Status source(llvm::ArrayRef<int32_t> ids);
  Status sourceValues(llvm::ArrayRef<float> values);
  Status append(int32_t id);
  // Runs the appended ids together with the guesses. A step that is cancelled
  // is no failure: the next one runs what it has not.
  Status decode();
  void cancel(); // the step that runs, from any thread or signal's handler
  Status sample(const mille_sampling &sampling, int32_t &id);
  // Log-probabilities: of the likeliest ids, and of a given one.
  // Those behind the last id, until the sequence changes.
  Status logits(llvm::ArrayRef<float> &logits);
  Status likeliest(llvm::MutableArrayRef<int32_t> ids,
                   llvm::MutableArrayRef<double> logprobs);
  Status logprob(int32_t id, double &logprob);
  // The best continuation; it lives until the next call.
  Status search(const mille_beams &beams, llvm::ArrayRef<int32_t> &ids);
  Status guessNgram();
  Status guessDraft(Continuation &draft);

  llvm::ArrayRef<int32_t> ids() const; // until the sequence changes
  size_t held() const { return ids().size(); }
  int64_t vocabulary() const { return mille_generation_vocabulary(generation); }

private:
  Status judge(mille_status status);

  std::unique_ptr<Compiled> compiled;
  mille_generation *generation = nullptr;
  int64_t sequence = 0;
};

} // namespace mille
