// What `mille verify` found, as text or as JSON. Must not measure anything.
#pragma once
#include "compiler/driver/program/Certificate.h"
#include "compiler/interpret/Judge.h"
#include "compiler/interpret/Routes.h"
#include "llvm/Support/JSON.h"

namespace mille {

class VerifyReport {
public:
  VerifyReport(llvm::raw_ostream &out, bool json) : out(out), json(json) {}

  void of(llvm::StringRef name) { package = name.str(); }
  // These print text at once. True if all is within its bounds. routing: of the
  // expected run, which takes the package's experts; null: it has none.
  bool compare(llvm::StringRef what, std::vector<Difference> tensors,
               const Tolerance &tolerance, const Routing *routing = nullptr);
  bool certify(const rewrite::Sample &sample, std::vector<Finding> findings);
  // hidden_states are expected, but the package keeps none.
  void leaveOutHiddenStates();
  bool isGood() const { return good; }
  // Writes the JSON.
  void finish();

private:
  struct Comparison {
    std::string what;
    std::vector<Difference> tensors;
    Tolerance tolerance;
    bool good;
    // Of the choices of experts.
    int64_t rows = 0, followed = 0, unfounded = 0;
  };
  void print(const Routing &routing);
  void print(const rewrite::Sample &sample);
  void write(llvm::json::OStream &to, const Comparison &comparison) const;
  void write(llvm::json::OStream &to, const Finding &finding) const;

  llvm::raw_ostream &out;
  const bool json;
  std::string package;
  std::vector<Comparison> comparisons;
  std::vector<std::string> leftOut; // names of tensors
  std::optional<rewrite::Sample> sampled;
  std::vector<Finding> findings;
  bool good = true;
};

} // namespace mille
