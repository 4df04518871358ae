// At most as many points as a screen shows: a point is the mean of some steps.
#include "compiler/driver/train/LossPage.h"

#include "compiler/weights/WholeFile.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace mille;

static constexpr size_t mostPoints = 2000;
static constexpr std::chrono::seconds betweenPages(2);

static double inSeconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

void LossPage::step(const mille_step_report &report) {
  if (path.empty())
    return;
  labels += report.labels;
  reports.push_back(report);
  writeNowAndThen();
}

void LossPage::evaluated(int64_t step, double loss) {
  if (path.empty())
    return;
  evaluations.emplace_back(step, loss);
  writeNowAndThen();
}

void LossPage::writeNowAndThen() {
  if (Clock::now() - written >= betweenPages)
    write(/*done=*/false);
}

std::string LossPage::close() {
  if (!path.empty())
    write(/*done=*/true);
  return problem;
}

std::string LossPage::json(bool done) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream to(stream);
  const double time = inSeconds(Clock::now() - begin);
  const size_t each = (reports.size() + mostPoints - 1) / mostPoints;
  auto number = [&](llvm::StringRef key, double value) {
    if (std::isfinite(value)) // JSON has no infinity
      to.attribute(key, value);
    else
      to.attribute(key, nullptr);
  };
  to.object([&] {
    to.attribute("model", model);
    to.attribute("steps", steps);
    to.attribute("done", done);
    number("seconds", time);
    number("labels_per_second", time > 0 ? double(labels) / time : 0);
    to.attribute("steps_per_point", int64_t(each));
    to.attributeArray("train", [&] {
      for (size_t first = 0; first < reports.size(); first += each) {
        const size_t end = std::min(first + each, reports.size());
        double loss = 0, norm = 0;
        for (size_t i = first; i < end; ++i) {
          loss += reports[i].loss / double(end - first);
          norm += reports[i].gradient_norm / double(end - first);
        }
        to.object([&] {
          to.attribute("step", reports[end - 1].step);
          number("loss", loss);
          number("gradient_norm", norm);
          number("rate", reports[end - 1].rate);
        });
      }
    });
    to.attributeArray("eval", [&] {
      for (auto [step, loss] : evaluations)
        to.object([&, step = step, loss = loss] {
          to.attribute("step", step);
          number("loss", loss);
        });
    });
  });
  return text;
}

void LossPage::write(bool done) {
  std::string page;
  llvm::raw_string_ostream text(page);
  writePage(PageKind::loss, "Training of " + model, json(done), text,
            done ? 0 : 5);
  WholeFile file(path);
  file.write(llvm::StringRef(page));
  problem = file.commit() ? "" : file.problem();
  written = Clock::now();
}
