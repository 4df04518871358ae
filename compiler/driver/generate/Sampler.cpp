// Penalty, temperature, top-k, top-p, min-p, draw; in double.
// Must not keep anything between two draws.
#include "compiler/driver/generate/Sampler.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mille;

namespace {

struct Candidate {
  int32_t id;
  double logit, weight = 0;
};

// A number in [0, 1) of a seed and a counter (SplitMix64 of each).
double drawnNumber(uint64_t seed, uint64_t counter) {
  auto mix = [](uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  };
  return double(mix(mix(seed) ^ counter) >> 11) * 0x1p-53;
}

bool isBefore(const Candidate &a, const Candidate &b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

// A logit that is no number is never drawn.
std::vector<Candidate> candidatesOf(llvm::ArrayRef<float> logits,
                                    llvm::ArrayRef<int32_t> held,
                                    double penalty) {
  std::vector<Candidate> candidates;
  candidates.reserve(logits.size());
  for (auto [id, logit] : llvm::enumerate(logits))
    candidates.push_back(
        {int32_t(id), std::isnan(logit) ? -HUGE_VAL : double(logit)});
  if (penalty == 1.0)
    return candidates;
  std::vector<int32_t> ids(held);
  llvm::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (int32_t id : ids)
    if (id >= 0 && size_t(id) < candidates.size()) {
      double &logit = candidates[id].logit;
      logit = logit > 0 ? logit / penalty : logit * penalty;
    }
  return candidates;
}

// Keeps the first ones that have `share` of all weights.
void keepShare(std::vector<Candidate> &candidates, double share) {
  double all = 0, sum = 0;
  for (const Candidate &candidate : candidates)
    all += candidate.weight;
  size_t kept = 0;
  while (kept < candidates.size() && (kept == 0 || sum < share * all))
    sum += candidates[kept++].weight;
  candidates.resize(kept);
}

} // namespace

int32_t mille::sample(const Sampling &sampling, llvm::ArrayRef<float> logits,
                      llvm::ArrayRef<int32_t> held, uint64_t position) {
  std::vector<Candidate> candidates =
      candidatesOf(logits, held, sampling.repeatPenalty);
  if (sampling.temperature == 0)
    return llvm::min_element(candidates, isBefore)->id;
  size_t most = sampling.topK > 0
                    ? std::min<size_t>(sampling.topK, candidates.size())
                    : candidates.size();
  std::partial_sort(candidates.begin(), candidates.begin() + most,
                    candidates.end(), isBefore);
  candidates.resize(most);
  const double largest = candidates.front().logit;
  for (Candidate &candidate : candidates)
    candidate.weight =
        candidate.logit == largest // of infinite logits the difference is none
            ? 1
            : std::exp((candidate.logit - largest) / sampling.temperature);
  if (sampling.topP < 1)
    keepShare(candidates, sampling.topP);
  while (candidates.back().weight < sampling.minP) // the largest weight is 1
    candidates.pop_back();
  double left = 0;
  for (const Candidate &candidate : candidates)
    left += candidate.weight;
  left *= drawnNumber(sampling.seed, position);
  for (const Candidate &candidate : candidates)
    if ((left -= candidate.weight) < 0)
      return candidate.id;
  return candidates.back().id;
}
