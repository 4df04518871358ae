// Compares which experts the rows of two runs went to. Must not choose any.
#include "compiler/interpret/Routes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mille;

int64_t Routing::rows() const {
  int64_t sum = 0;
  for (const RoutedRows &route : made)
    sum += route.rows();
  return sum;
}

bool mille::areAlike(const Routes &one, const Routes &other) {
  return llvm::equal(one, other, [](const RoutedRows &a, const RoutedRows &b) {
    return a.entries() == b.entries() && a.rows() == b.rows() &&
           a.experts.size() == b.experts.size();
  });
}

bool mille::goAlike(const Routes &one, const Routes &other) {
  if (!areAlike(one, other))
    return false;
  for (auto [a, b] : llvm::zip(one, other))
    for (int64_t at = 0, k = a.k(); at < int64_t(a.experts.size()); at += k)
      if (!std::is_permutation(&a.experts[at], &a.experts[at] + k,
                               &b.experts[at]))
        return false;
  return true;
}

Status mille::follow(const Routes &other, Values &outputs, Routing &routing,
                     llvm::function_ref<Status(Values &, Routing &)> run) {
  if (!areAlike(other, routing.made) || goAlike(other, routing.made))
    return Status::done;
  routing = Routing();
  routing.given = &other;
  outputs.clear();
  return run(outputs, routing);
}

void mille::addRouterLogits(const Routes &got, const Routes &expected,
                            Values &gotOutputs, Values &expectedOutputs) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string name = "router_logits." + std::to_string(i);
    gotOutputs[name] = {expected[i].shape, got[i].logits};
    expectedOutputs[name] = {expected[i].shape, expected[i].logits};
  }
}
