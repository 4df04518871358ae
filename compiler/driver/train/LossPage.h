// The page with the curves of a training, written again while it runs. Must not
// stop the training: errors of the file are told at the end.
#pragma once
#include "compiler/pages/Page.h"
#include "runtime/mille.h"

#include <chrono>
#include <string>
#include <vector>

namespace mille {

class LossPage {
public:
  // path: "" for no page.
  LossPage(std::string path, std::string model, int64_t steps)
      : path(std::move(path)), model(std::move(model)), steps(steps) {}

  void step(const mille_step_report &report);
  void evaluated(int64_t step, double loss);
  // Writes the page for the last time. Why it was not written; "" if it was.
  std::string close();

private:
  using Clock = std::chrono::steady_clock;
  std::string json(bool done) const;
  void write(bool done);
  void writeNowAndThen();

  std::string path, model, problem;
  int64_t steps, labels = 0;
  std::vector<mille_step_report> reports;
  std::vector<std::pair<int64_t, double>> evaluations;
  Clock::time_point begin = Clock::now(), written = {};
};

} // namespace mille
