// What compares and judges tensors: what is missing, hidden, of another shape
// or no number is never within a bound, nor is nothing at all.
//
// RUN: %programs/interpret-judge 2>&1 | FileCheck %s
#include "compiler/interpret/Judge.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"

#include <cmath>
#include <cstdio>

using namespace mille;

namespace {

const Tolerance bound{0.1, 0.9, 0};

class Trials {
public:
  explicit Trials(mlir::MLIRContext &context) : context(context) {}

  // How `got` is compared with `expected`, and judged.
  void run(const char *what, const Values &got, const Values &expected,
           const Values &inputs = {}) {
    std::vector<Difference> differences;
    Status status = compare(got, expected, inputs,
                            mlir::UnknownLoc::get(&context), differences);
    bool good = !failed(status) && within(what, differences);
    llvm::outs() << what << ": status " << int(status) << ", "
                 << (good ? "within" : "not within") << '\n';
    llvm::outs().flush();
  }

  bool within(const char *what, llvm::ArrayRef<Difference> differences) {
    return judge(llvm::outs(), what, differences,
                 [](const Difference &) { return bound; });
  }

private:
  mlir::MLIRContext &context;
};

// The mask of two sequences of two tokens, of which the last is hidden.
Value mask(std::vector<double> numbers) { return {{2, 2}, numbers, true}; }

void compareAll(Trials &trials) {
  const Value a{{3}, {1, 2, 4}}, b{{3}, {1, 2, 3.5}};
  const Value nan{{3}, {1, NAN, 4}}, infinite{{3}, {1, INFINITY, 4}};
  // CHECK: equal: status 0, within
  trials.run("equal", {{"x", a}}, {{"x", a}});
  // CHECK: x  max error 0.5 of 4  bound 0.4  cosine 0.99{{.*}} of 0.9  DIFFERS
  // CHECK-SAME: at [2]: 3.5 but 4 is expected
  // CHECK: another: status 0, not within
  trials.run("another", {{"x", b}}, {{"x", a}});
  // CHECK: x  max error inf {{.*}} DIFFERS at [1]: nan but 2 is expected
  // CHECK: nan: status 0, not within
  trials.run("nan", {{"x", nan}}, {{"x", a}});
  // CHECK: expected nan: status 0, not within
  trials.run("expected nan", {{"x", a}}, {{"x", nan}});
  // CHECK: infinite: status 0, not within
  trials.run("infinite", {{"x", infinite}}, {{"x", a}});
  // CHECK: turned: status 0, not within
  trials.run("turned", {{"x", {{3}, {-1, -2, -4}}}}, {{"x", a}});
  // CHECK: zeros: status 0, not within
  trials.run("zeros", {{"x", {{3}, {0, 0, 0}}}}, {{"x", a}});
  // CHECK: error: there is no tensor to compare with
  // CHECK: nothing: status 1, not within
  trials.run("nothing", {{"x", a}}, {});
  // CHECK: error: output y is expected but the run has none of that name
  // CHECK: no y: status 1, not within
  trials.run("no y", {{"x", a}}, {{"x", a}, {"y", a}});
  // CHECK: error: output x is [3] but the expected one is [1, 3]
  // CHECK: shape: status 1, not within
  trials.run("shape", {{"x", a}}, {{"x", {{1, 3}, {1, 2, 4}}}});
}

// What a mask hides counts not; where it hides all, that is said.
void compareMasked(Trials &trials) {
  const Value rows{{2, 2, 1}, {1, 2, 3, 4}}, last{{2, 2, 1}, {1, 2, 3, 9}};
  const Values hidden{{"attention_mask", mask({1, 1, 1, 0})}};
  const Values seen{{"attention_mask", mask({1, 1, 1, 1})}};
  const Values none{{"attention_mask", mask({0, 0, 0, 0})}};
  // CHECK: hidden: status 0, within
  trials.run("hidden", {{"x", last}}, {{"x", rows}}, hidden);
  // CHECK: seen: status 0, not within
  trials.run("seen", {{"x", last}}, {{"x", rows}}, seen);
  // CHECK: error: no number of output x is compared: the mask hides them all
  // CHECK: all hidden: status 1, not within
  trials.run("all hidden", {{"x", rows}}, {{"x", rows}}, none);
  // [batch, words] is [batch, tokens] by chance: it counts but for zeros.
  // CHECK: words: status 0, not within
  trials.run("words", {{"x", mask({1, 2, 3, 9})}}, {{"x", mask({1, 2, 3, 4})}},
             hidden);
  // Beside an encoder the decoder's mask is that of all but encoder_*.
  Values both = hidden;
  both["decoder_input_ids"] = mask({1, 1, 1, 1});
  both["decoder_attention_mask"] = mask({1, 1, 1, 1});
  // CHECK: decoded: status 0, not within
  trials.run("decoded", {{"x", last}}, {{"x", rows}}, both);
  // CHECK: encoded: status 0, within
  trials.run("encoded", {{"encoder_x", last}}, {{"encoder_x", rows}}, both);
  // Entries [entries, batch, tokens, channels] too.
  Value entries{{1, 2, 2, 1}, {1, 2, 3, 4}}, others{{1, 2, 2, 1}, {1, 2, 3, 9}};
  // CHECK: entries: status 0, within
  trials.run("entries", {{"h", others}}, {{"h", entries}}, hidden);
}

} // namespace

int main() {
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  llvm::errs().tie(&llvm::outs());
  Trials trials(context);
  compareAll(trials);
  compareMasked(trials);
  // CHECK: an empty list: not within
  bool good = trials.within("an empty list", {});
  llvm::outs() << "an empty list: " << (good ? "within" : "not within") << '\n';

  // Entries by themselves and joined again.
  Values values{{"h", {{2, 1, 1, 2}, {1, 2, 3, 4}}}, {"x", {{1}, {5}}}};
  splitEntries(values);
  // CHECK: h.0 [1, 1, 2] 1 2
  // CHECK: h.1 [1, 1, 2] 3 4
  // CHECK: x [1] 5
  auto print = [&](const Values &all) {
    for (auto &[name, value] : all) {
      llvm::outs() << name << " [";
      llvm::interleaveComma(value.shape, llvm::outs());
      llvm::outs() << "]";
      for (double number : value.numbers)
        llvm::outs() << llvm::format(" %g", number);
      llvm::outs() << '\n';
    }
  };
  print(values);
  values.erase("x");
  joinEntries(values);
  // CHECK: h [2, 1, 1, 2] 1 2 3 4
  print(values);
  return 0;
}
