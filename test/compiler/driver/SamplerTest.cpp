// RUN: %programs/driver-sampler | FileCheck %s
// CHECK: 7 properties of draws hold
//
// What a draw may give: each rule of Sampler.h on logits where the answer is
// known, and the frequency of draws beside the softmax.
#include "compiler/driver/generate/Sampler.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

using namespace mille;

static int properties = 0;
static void expect(bool holds, const char *what) {
  if (!holds) {
    std::fprintf(stderr, "%s does not hold\n", what);
    std::exit(1);
  }
}

// All ids that 20 000 places draw.
static std::set<int32_t> drawn(const Sampling &sampling,
                               llvm::ArrayRef<float> logits) {
  std::set<int32_t> ids;
  for (uint64_t place = 0; place < 20000; ++place)
    ids.insert(sample(sampling, logits, {}, place));
  return ids;
}

static Sampling plain() { return {1.0, 0, 1.0, 0.0, 1.0, 3}; }

int main() {
  const float logits[] = {1, 3, 2, 3, -1};
  Sampling greedy = plain();
  greedy.temperature = 0;
  expect(sample(greedy, logits, {}, 7) == 1, "ties go to the lowest id");
  ++properties;

  greedy.repeatPenalty = 2;
  const int32_t held[] = {1, 3, 3, 99};
  expect(sample(greedy, logits, held, 7) == 2, "the penalty, once an id");
  const float negative[] = {-1, -1.5};
  expect(sample(greedy, negative, llvm::ArrayRef<int32_t>{0}, 0) == 1,
         "the penalty of a negative logit");
  ++properties;

  Sampling few = plain();
  few.topK = 2;
  expect(drawn(few, logits) == std::set<int32_t>{1, 3}, "top-k");
  few.topK = 1;
  expect(drawn(few, logits) == std::set<int32_t>{1}, "top-k of one");
  ++properties;

  // Shares .5, .25, .25: half is the first alone, a little more two.
  const float shares[] = {std::log(2.f), 0, 0};
  Sampling nucleus = plain();
  nucleus.topP = 0.5;
  expect(drawn(nucleus, shares) == std::set<int32_t>{0}, "top-p of half");
  nucleus.topP = 0.51;
  expect(drawn(nucleus, shares) == std::set<int32_t>{0, 1}, "top-p of more");
  ++properties;

  Sampling likely = plain();
  likely.minP = 0.3; // of the likeliest: e^-1 = .37, e^-2 = .14
  expect(drawn(likely, logits) == std::set<int32_t>{1, 2, 3}, "min-p");
  ++properties;

  // The softmax's shares, within four deviations of 20 000 draws.
  Sampling warm = plain();
  warm.temperature = 2;
  double all = 0, share[5];
  for (int i = 0; i < 5; ++i)
    all += share[i] = std::exp(logits[i] / 2);
  int count[5] = {};
  for (uint64_t place = 0; place < 20000; ++place)
    ++count[sample(warm, logits, {}, place)];
  for (int i = 0; i < 5; ++i) {
    const double p = share[i] / all;
    expect(std::fabs(count[i] - 20000 * p) < 4 * std::sqrt(20000 * p * (1 - p)),
           "a draw's frequency");
  }
  ++properties;

  // The seed and the place decide, and what is no number is never drawn.
  Sampling other = warm;
  other.seed = 4;
  int differ = 0;
  for (uint64_t place = 0; place < 100; ++place) {
    expect(sample(warm, logits, {}, place) == sample(warm, logits, {}, place),
           "the same draw");
    differ +=
        sample(warm, logits, {}, place) != sample(other, logits, {}, place);
  }
  expect(differ > 20, "another seed draws others");
  const float broken[] = {NAN, 1, NAN};
  expect(drawn(warm, broken) == std::set<int32_t>{1}, "no NaN is drawn");
  ++properties;

  std::printf("%d properties of draws hold\n", properties);
  return 0;
}
